import { describe, expect, it } from 'vitest'
import type { Entry } from '@/api/types'
import { standing, tell } from './tell'

const repaired = (data: unknown, more: object = {}) => tell({ kind: 'repaired', step: 'ship', event: 'paid', data, ...more } as unknown as Entry)

describe('what a person did to a run', () => {
  it('is told in words', () => {
    const told = [
      repaired({ retry: [16] }),
      repaired({ retry: [16] }, { step: null }),
      repaired({ skip: 'done', output: null, reason: 'by hand' }),
      repaired({ put: 0, data: null, reason: null }),
      repaired({ take: 0, number: 4, reason: null }),
      repaired({ fail: true, reason: 'a mistake' }, { step: null, event: null }),
    ]

    expect(told.map(({ text, more }) => [text, more])).toEqual([
      ['ship is tried again', ''],
      ['Tried again', ''],
      ['ship is skipped, as if it had ended on done', 'by hand'],
      ['A token of paid was put before ship', ''],
      ['A token of paid was taken from ship', ''],
      ['A person let the run fail', 'a mistake'],
    ])
  })
})

describe('the end of a run', () => {
  it('is told in words, with the reason', () => {
    const ended = (data: object) => tell({ kind: 'run_ended', step: null, event: null, port: null, data } as unknown as Entry)

    expect([ended({ status: 'succeeded' }), ended({ status: 'timed_out', error: { kind: 'timeout', message: 'the run outlived its timeout of 5m' } })].map(({ text, more }) => [text, more])).toEqual([
      ['The run succeeds', ''],
      ['The run is timed out', 'the run outlived its time-out (5 min)'],
    ])
  })
})

it('says why a step stands where it does, and no word of the engine', () => {
  expect(['backoff', 'no worker', 'of tomorrow'].map(standing)).toEqual(['Pauses before its next attempt', 'No worker takes it yet', 'of tomorrow'])
})
