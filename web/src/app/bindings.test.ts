import { describe, expect, it } from 'vitest'
import { originalOf, shownOf, takenBy } from './bindings'

describe('keys that were changed', () => {
  const bindings = { L: 'Ctrl+L' }

  it('stand for the keys of the program, which then do nothing', () => {
    expect([originalOf('Ctrl+L', bindings), originalOf('L', bindings), originalOf('P', bindings)]).toEqual(['L', '', 'P'])
    expect(shownOf('L', bindings)).toBe('Ctrl+L')
  })

  it('are taken once', () => {
    expect(takenBy('Ctrl+L', ['L', 'P'], bindings)).toBe('L')
    expect(takenBy('L', ['L', 'P'], bindings)).toBeUndefined()
  })
})
