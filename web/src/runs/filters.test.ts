import { describe, expect, it } from 'vitest'
import { asked, bulkFilter, filterOf, moment, same, strange, without } from './filters'

describe('a filter that asks for what cannot be', () => {
  it('says in which part', () => {
    expect(strange({ status: 'failed,nonsense' })).toBe('status')
    expect(strange({ workflow: 'w', version: 'abc' })).toBe('version')
    expect(strange({ since: 'yesterday' })).toBe('since')
    expect(strange({ since: '9999999999d' })).toBe('since')
    expect([strange({ label: 'a' }), strange({ key: '=x' }), strange({ q: 'a\u0000' })]).toEqual(['label', 'key', 'q'])
  })

  it('is none where the server can answer', () => {
    expect(strange({ status: 'failed,timed_out', version: '3', since: '24h', until: '2026-05-01T12:00:00Z', label: 'team=red', key: 'a=1', q: 'nonsense' })).toBeNull()
  })
})

describe('a filter of runs', () => {
  it('is read from the address, and what is not known is left out', () => {
    expect(filterOf({ status: ['failed', 'stalled'], version: 3, theme: 'dark', q: '' })).toEqual({ status: 'failed,stalled', version: '3' })
  })

  it('takes spans of time as moments', () => {
    const now = Date.UTC(2026, 0, 2)
    expect(moment('24h', now)).toBe('2026-01-01T00:00:00.000Z')
    expect(asked({ since: '1d', until: '2026-01-01T12:00:00Z' }, now)).toEqual({ since: '2026-01-01T00:00:00.000Z', until: '2026-01-01T12:00:00Z' })
  })

  it('names statuses one by one for bulk actions', () => {
    expect(bulkFilter({ status: 'failed,stalled', version: '2', workflow: 'w' }, 0)).toEqual({ status: ['failed', 'stalled'], version: 2, workflow: 'w' })
  })

  it('can lose a part, and is compared by all', () => {
    expect(without({ status: 'failed', q: 'x' }, 'status')).toEqual({ q: 'x' })
    expect(same({ q: 'x' }, { q: 'x', status: '' })).toBe(true)
    expect(same({ q: 'x' }, { q: 'y' })).toBe(false)
  })
})
