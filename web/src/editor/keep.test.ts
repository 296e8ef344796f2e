import { describe, expect, it } from 'vitest'
import { choice } from './keep'

const kept = (tab: string, at: number, unsaved: boolean) => ({ name: `w\u0000${tab}`, at, unsaved, definition: { penstock: 1, name: 'w', steps: {} }, etag: null, past: [], future: [] })
const OPEN = new Set(['penstock tab me', 'penstock tab other'])

describe('what is kept of a workflow', () => {
  it('is this tab’s own, whatever other tabs keep', () => {
    const [mine, other] = [kept('me', 1, true), kept('other', 2, true)]
    expect(choice([mine, other], 'me', OPEN)).toEqual({ mine, left: [], past: [] })
  })

  it('is never taken from a tab that is open', () => {
    expect(choice([kept('other', 2, true)], 'me', OPEN)).toEqual({ mine: undefined, left: [], past: [] })
  })

  it('is what a closed tab could not save, and the rest is offered', () => {
    const [old, newer, saved] = [kept('gone', 1, true), kept('gone too', 2, true), kept('done', 3, false)]
    expect(choice([old, newer, saved], 'me', OPEN)).toEqual({ mine: newer, left: [old], past: [saved, newer] })
  })

  it('is found as it was stored before tabs were told apart', () => {
    const plain = { ...kept('', 1, true), name: 'w' }
    expect(choice([plain], 'me', OPEN).mine).toBe(plain)
  })
})
