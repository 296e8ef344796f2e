import { describe, expect, it } from 'vitest'
import type { Entry, StepState } from '@/api/types'
import { stepAt } from './then'

const entry = (seq: number, kind: Entry['kind'], more: Partial<Entry> = {}): Entry => ({ seq, at: new Date(seq * 1000).toISOString(), kind, step: 'a', event: null, port: null, attempt: null, firing: null, started_at: null, data: null, ...more })
const NOW = { status: 'complete', reason: null, firings: 2, attempts: 1, output: 'second', error: null, elements: null } as unknown as StepState
const HISTORY = [
  entry(2, 'fired'),
  entry(3, 'ended', { port: 'failed', attempt: 3, data: { error: { kind: 'error', message: 'no' } } }),
  entry(5, 'fired'),
  entry(6, 'ended', { port: 'done', attempt: 1, data: 'second' }),
]

describe('a step at another moment', () => {
  it('is what its history was by then', () => {
    const at = (seq: number | null) => {
      const { status, firings, output, error } = stepAt(NOW, 'a', HISTORY, undefined, seq)
      return [status, firings, output, error?.message]
    }
    expect(at(1)).toEqual(['blocked', 0, null, undefined])
    expect(at(2)).toEqual(['running', 1, null, undefined])
    expect(at(4)).toEqual(['failed', 1, null, 'no'])
    expect(at(5)).toEqual(['running', 2, null, undefined])
    expect(at(6)).toEqual(['complete', 2, 'second', undefined])
    expect(at(null)).toEqual(['complete', 2, 'second', undefined])
  })

  it('has the state that the server tells of that moment, and of no other', () => {
    const then = (seq: number) => stepAt(NOW, 'a', HISTORY, { run: 'r', seq, slots: [], steps: { a: { status: 'ready', firings: 1, live: 1 } }, data: {}, tags: {} }, 2).status
    expect([then(2), then(3)]).toEqual(['ready', 'running'])
  })
})
