import { describe, expect, it } from 'vitest'
import type { Entry } from '@/api/types'
import { tell } from './tell'

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
