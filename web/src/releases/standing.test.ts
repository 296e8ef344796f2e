import { expect, it } from 'vitest'
import type { Release, ReleaseTask } from '@/api/releases'
import { standing } from './standing'

const task = (id: string, state: string): ReleaseTask => ({ kf_id: id, state, progress: 0, task_service: '', service_name: id, created_at: '', states: [] })
const release = (state: string, partly: string[], ...tasks: ReleaseTask[]): Release => ({
  kf_id: 'RE_1', name: 'R', description: '', state, studies: [], tasks, notes: [], version: '0.0.0', created_at: '', tags: [], author: 'a', is_major: false, partly_published: partly, run: null, states: [], next_version: null,
})

it('never says of a canceled release that nothing is out where something is', () => {
  const told = standing(release('canceled', ['a'], task('a', 'published'), task('b', 'canceled')))
  expect(told.tint).toBe('warn')
  expect(told.bold).toContain('1 of 2')
  expect(told.more).not.toContain('Nothing')
})

it('counts who said so only after its task had ended', () => {
  const told = standing(release('failed', ['a', 'b'], task('a', 'published'), task('b', 'failed'), task('c', 'failed')))
  expect(told.bold).toContain('2 of 3')
  expect(told.more).toContain('“c”')
  expect(told.more).not.toContain('“b”')
})

it('names all that have not published, also those that were told to stop', () => {
  const told = standing(release('failed', ['a'], task('a', 'published'), task('b', 'failed'), task('c', 'canceled')))
  expect(told.more).toContain('“b”, “c”')
})

it('says of nobody that they have not published where all have', () => {
  const told = standing(release('failed', ['a', 'b'], task('a', 'published'), task('b', 'failed')))
  expect(told.bold).toContain('2 of 2')
  expect(told.more).toContain('“Call it published”')
})
