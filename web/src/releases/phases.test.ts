import { describe, expect, it } from 'vitest'
import type { Release, ReleaseTask } from '@/api/releases'
import { culprits, phasesOf, rangeOf, spansOf } from './phases'

const at = (second: number) => new Date(Date.UTC(2030, 0, 1, 0, 0, second)).toISOString()
const since = (...states: string[]) => states.map((state, second) => ({ state, at: at(second) }))

const release = (...states: string[]): Release => ({
  kf_id: 'RE_1', name: 'R', description: '', state: states.at(-1) ?? 'waiting', studies: [], tasks: [], notes: [], version: '0.0.0', created_at: at(0), tags: [], author: 'a', is_major: false, partly_published: [], run: null, states: since(...states), next_version: null,
})
const task = (name: string, ...states: string[]): ReleaseTask => ({ kf_id: 'TA_1', state: states.at(-1) ?? '', progress: 0, task_service: '', service_name: name, created_at: at(0), states: since(...states) })
const shown = (...states: string[]) => phasesOf(release(...states)).map((each) => each.state)

describe('the phases of a release', () => {
  it('begin with asking every service', () => {
    expect(shown('waiting')).toEqual(['now', 'coming', 'coming', 'coming', 'coming'])
  })

  it('wait at the gate once all are staged', () => {
    expect(shown('waiting', 'initializing', 'running', 'staged')).toEqual(['done', 'done', 'now', 'coming', 'coming'])
  })

  it('are all done once it is published', () => {
    expect(shown('waiting', 'initializing', 'running', 'staged', 'publishing', 'published')).toEqual(['done', 'done', 'done', 'done', 'done'])
  })

  it('say where it failed, and where it was canceled', () => {
    expect(shown('waiting', 'initializing', 'canceling', 'failed')).toEqual(['failed', 'coming', 'coming', 'coming', 'coming'])
    expect(shown('waiting', 'initializing', 'running', 'canceling')).toEqual(['done', 'canceled', 'coming', 'coming', 'coming'])
  })

  it('forget a failure that was mended', () => {
    expect(shown('waiting', 'initializing', 'running', 'staged', 'publishing', 'canceling', 'failed', 'publishing')).toEqual(['done', 'done', 'done', 'now', 'coming'])
  })
})

it('begin anew where the rest stages again', () => {
  const before = ['waiting', 'initializing', 'running', 'staged', 'publishing', 'canceling', 'failed']
  expect(shown(...before, 'initializing', 'running')).toEqual(['done', 'now', 'coming', 'coming', 'coming'])
})

describe('the timeline of a task', () => {
  it('lasts until the next state, and an end lasts no time', () => {
    expect(spansOf(task('a', 'waiting', 'initialized', 'failed')).map((each) => [each.state, each.to === null ? null : each.to - each.from])).toEqual([
      ['waiting', 1000],
      ['initialized', 1000],
      ['failed', 0],
    ])
  })

  it('goes on where the task is at work', () => {
    expect(spansOf(task('a', 'waiting', 'running')).at(-1)?.to).toBeNull()
  })

  it('ends when the release does', () => {
    const over = release('waiting', 'initializing', 'canceling', 'failed')
    expect(rangeOf(over, Date.parse(at(60)))).toEqual([Date.parse(at(0)), Date.parse(at(3))])
    expect(rangeOf(release('waiting'), Date.parse(at(60)))[1]).toBe(Date.parse(at(60)))
  })
})

it('names the services that were refused or failed', () => {
  expect(culprits({ ...release('failed'), tasks: [task('a', 'published'), task('b', 'rejected'), task('c', 'failed')] })).toEqual(['b', 'c'])
})
