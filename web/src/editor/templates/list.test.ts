import { describe, expect, it } from 'vitest'
import { WORKFLOW_NAME, freeOf, nameFor } from './list'

describe('the name for a title', () => {
  it('has its letters without their marks, and lines between the words', () => {
    expect(nameFor('Video für die Vorlesung')).toBe('video-fuer-die-vorlesung')
    expect(nameFor('  Rücksendung & Prüfung (groß) ')).toBe('ruecksendung-pruefung-gross')
    expect(nameFor("L'été à Évry")).toBe('lete-a-evry')
  })

  it('can always be one', () => {
    for (const title of ['', '???', '視頻', '-.-', 'a'.repeat(300), 'x '.repeat(90)]) expect(nameFor(title)).toMatch(WORKFLOW_NAME)
  })

  it('is another where that is taken', () => {
    expect(freeOf(nameFor('Pay'), ['pay'])).toBe('pay-2')
  })
})
