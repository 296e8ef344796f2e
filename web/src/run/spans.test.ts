import { describe, expect, it } from 'vitest'
import type { Entry } from '@/api/types'
import { dataAt, merged, timeline } from './spans'

const entry = (seq: number, kind: Entry['kind'], more: Partial<Entry> = {}): Entry => ({ seq, at: new Date(seq * 1000).toISOString(), kind, step: null, event: null, port: null, attempt: null, firing: null, started_at: null, data: null, ...more })

describe('a timeline', () => {
  it('shows attempts and the pauses between them apart', () => {
    const rows = timeline(
      [
        entry(1, 'event', { event: 'START' }),
        entry(2, 'fired', { step: 'a', data: { consumed: [1] } }),
        entry(5, 'attempt', { step: 'a', firing: 2, attempt: 1, data: { error: { kind: 'timeout', message: 'late' }, retry_at: new Date(7000).toISOString(), index: null } }),
        entry(9, 'ended', { step: 'a', firing: 2, attempt: 2, port: 'done' }),
      ],
      ['a'],
      [{ step: 'a', takes: ['START'], need: 1 }],
      [],
    )
    expect(rows[0]?.bars).toEqual([
      { attempt: 1, from: 2000, to: 5000, outcome: 'timed_out', said: 'late' },
      { attempt: 2, from: 7000, to: 9000, outcome: 'ok', said: 'done' },
    ])
    expect(rows[0]?.pauses).toEqual([{ from: 5000, to: 7000 }])
    expect(rows[0]?.total).toBe(7000)
  })

  it('shows no attempt before a worker has it', () => {
    const entries = [entry(1, 'event', { event: 'START' }), entry(2, 'fired', { step: 'a', data: { consumed: [1] } })]
    const rows = (reason: string, since?: number) => timeline(entries, ['a'], [], [], [{ step: 'a', reason, ...(since ? { since: new Date(since).toISOString() } : {}) }])
    expect(rows('no worker')[0]).toMatchObject({ bars: [], pauses: [{ from: 2000, to: null }], total: null })
    expect(rows('running', 6000)[0]).toMatchObject({ bars: [{ from: 6000, to: null, outcome: 'running' }], pauses: [{ from: 2000, to: 6000 }] })
    expect(rows('approval')[0]).toMatchObject({ bars: [{ from: 2000, to: null, outcome: 'running' }], pauses: [] })
  })

  it('shows apart how long attempts that have ended waited for a worker', () => {
    const at = (seconds: number) => new Date(seconds * 1000).toISOString()
    const entries = [
      entry(1, 'event', { event: 'START' }),
      entry(2, 'fired', { step: 'a', data: { consumed: [1] } }),
      entry(6, 'attempt', { step: 'a', firing: 2, attempt: 1, started_at: at(4), data: { error: { message: 'no' } } }),
      entry(9, 'ended', { step: 'a', firing: 2, attempt: 2, port: 'done', started_at: at(8) }),
    ]
    const [row] = timeline(entries, ['a'], [], [])
    expect(row?.bars.map(({ from, to }) => [from, to])).toEqual([[4000, 6000], [8000, 9000]])
    expect(row?.pauses).toEqual([{ from: 2000, to: 4000 }, { from: 6000, to: 8000 }])
  })

  it('shows the pause before the next attempt once, and none after it', () => {
    const entries = [entry(1, 'event', { event: 'START' }), entry(2, 'fired', { step: 'a' }), entry(3, 'attempt', { step: 'a', firing: 2, attempt: 1, data: { error: { message: 'no' }, retry_at: new Date(9000).toISOString() } })]
    expect(timeline(entries, ['a'], [], [], [{ step: 'a', reason: 'backoff' }])[0]).toMatchObject({ pauses: [{ from: 3000, to: 9000 }], total: null })
  })

  it('shows how long a join waits, and when its events came', () => {
    const slots = [
      { step: 'join', takes: ['x'], need: 1 },
      { step: 'join', takes: ['y'], need: 1 },
    ]
    const rows = timeline([entry(1, 'event', { event: 'x', step: 'a' }), entry(4, 'event', { event: 'y' }), entry(4, 'fired', { step: 'join' })], ['join'], slots, ['y'])
    expect(rows.map((row) => row.name)).toEqual(['y', 'join'])
    expect(rows[0]?.outside).toEqual({ from: 1000, to: 4000 })
    expect(rows[1]?.joins).toEqual([{ from: 1000, to: 4000, arrivals: [1000, 4000] }])
    expect(rows[1]?.bars[0]?.outcome).toBe('running')
  })

  it('shows how long an event from outside has been waited for, and none that nobody waits for', () => {
    const slots = [{ step: 'a', takes: ['go'], need: 1 }, { step: 'b', takes: ['stop'], need: 1 }]
    const rows = timeline([entry(1, 'event', { event: 'START' })], ['a', 'b'], slots, ['go', 'stop'], [], ['go', 'a'])
    expect(rows.map((row) => [row.name, row.outside])).toEqual([['go', { from: 1000, to: null }], ['a', null], ['b', null]])
  })

  it('tells a failure once', () => {
    const rows = timeline(
      [entry(1, 'fired', { step: 'a' }), entry(3, 'attempt', { step: 'a', firing: 1, attempt: 1, data: { error: { kind: 'fatal', message: 'no' }, index: null } }), { ...entry(4, 'ended', { step: 'a', firing: 1, attempt: 1, port: 'failed' }), at: new Date(3000).toISOString() }],
      ['a'],
      [],
      [],
    )
    expect(rows[0]?.bars).toHaveLength(1)
  })
})

describe('the data of a run', () => {
  it('is its input and what was set until then', () => {
    const entries = [entry(1, 'event', { event: 'START', data: { a: 1, b: { c: 2 } } }), entry(2, 'set', { data: { b: { d: 3 }, a: null } }), entry(3, 'set', { data: { e: 4 } })]
    expect(dataAt(entries, 2)).toEqual({ b: { c: 2, d: 3 } })
    expect(dataAt(entries, 3)).toEqual({ b: { c: 2, d: 3 }, e: 4 })
  })

  it('is merged as RFC 7396 says', () => {
    expect(merged({ a: [1] }, { a: [2], b: { x: null } })).toEqual({ a: [2], b: {} })
  })
})
