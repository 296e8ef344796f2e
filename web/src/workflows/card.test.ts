import { describe, expect, it } from 'vitest'
import { figuresOf, startedBy } from './card'

describe('how a workflow does', () => {
  it('counts a canceled run as ended, not as succeeded', () => {
    const lines = { ended: [2, 2], failed: [0, 1], succeeded: [1, 1], typical: 9.7 }

    expect(figuresOf({ workflows: { mine: lines } }, 'mine', 24)).toMatchObject({ good: 0.5, perDay: 4, typical: 9.7 })
    expect(figuresOf({ workflows: {} }, 'mine', 24)).toMatchObject({ good: null, perDay: 0, typical: null })
  })

  it('is not said before it is known', () => {
    expect(figuresOf(undefined, 'mine', 24)).toMatchObject({ good: null, perDay: null, typical: null })
  })
})

describe('how runs are started', () => {
  it('says where the objects are', () => {
    expect(startedBy({ source: { kind: 'object', store: 'pictures', prefix: 'holiday/' } })).toBe('Started by each new object in pictures/holiday/')
    expect(startedBy({ source: { kind: 'search', store: 'pictures', cron: '*/15 * * * *' } })).toBe('Started by a search in pictures')
    expect(startedBy({ source: { kind: 'topic', bus: 'b', topic: 'orders' } })).toBe('Started by messages of orders')
  })
})
