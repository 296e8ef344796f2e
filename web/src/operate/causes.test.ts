import { describe, expect, it } from 'vitest'
import { causesOf, incidentText, stripped } from './causes'

const failed = (run: string, message: string, at = '2026-01-01T00:00:00Z') => ({ kind: 'failed', run, at, text: '', actions: [], workflow: 'w', steps: ['s'], error: { kind: 'error', message } })

describe('causes', () => {
  it('take together what differs by numbers alone', () => {
    const causes = causesOf([failed('1', 'no room for 17 bytes'), failed('2', 'no room for 9000 bytes', '2025-01-01T00:00:00Z'), failed('3', 'other')])
    expect(causes.map((each) => each.items.length)).toEqual([2, 1])
    expect(causes[0]?.since).toBe('2025-01-01T00:00:00Z')
  })

  it('keep apart what starves for different events', () => {
    const stalled = (missing: string) => ({ kind: 'stalled', run: missing, at: '', text: '', actions: [], workflow: 'w', starving: [{ step: 's', missing: [missing] }] })
    expect(causesOf([stalled('a'), stalled('b')])).toHaveLength(2)
  })

  it('know ids', () => {
    expect(stripped('run 1a1e345f75aad2d01b6a at 3')).toBe('run # at #')
  })
})

describe('what happened', () => {
  const base = { run: 'r', at: '', text: 'as the server says', actions: [], workflow: 'w' }

  it('is said by its kind', () => {
    expect(incidentText({ ...base, kind: 'failed', error: null })).toBe('no reason was given')
    expect(incidentText({ ...base, kind: 'stalled', starving: [] })).toBe('nothing is left that could go on')
    expect(incidentText({ ...base, kind: 'set_aside', event: 'x', reason: 'its key is null' })).toBe('event “x”: its key is null')
    expect(incidentText({ ...base, kind: 'source', source: 'topic', reason: 'no broker' })).toBe('The source of “w” (topic) is failing: no broker')
  })

  it('is said by the server where the page does not know it', () => {
    expect(incidentText({ ...base, kind: 'of tomorrow' })).toBe('as the server says')
  })
})
