import { describe, expect, it } from 'vitest'
import { EVERY } from './every'
import { format } from './format'

const names = (text: string) => [...text.matchAll(/\{(\w+)[,}]/g)].map((found) => found[1]).sort()
const lists = (text: string) => [...new Set([...text.matchAll(/\{(\w+), (and|or|list|either)\}/g)].map((found) => found[1]))].sort()

describe('messages', () => {
  it('fills in names and counts', () => {
    expect(format('{name} has {n, plural, =0 {none} one {# run} other {# runs}}', { name: 'A', n: 1 }, 'en')).toBe('A has 1 run')
    expect(format('{n, plural, =0 {none} one {# run} other {# runs}}', { n: 0 }, 'en')).toBe('none')
    expect(format('{n, plural, one {# Lauf} other {# Läufe}}', { n: 1200 }, 'de')).toBe('1.200 Läufe')
  })

  it('takes what is filled in as text, never as a message', () => {
    expect(format('“{name}”', { name: '{n} <b>' }, 'en')).toBe('“{n} <b>”')
  })

  it('has one word for one thing in German', () => {
    const others = /Arbeiter|feuer[nt]|\bHaken|Zugangszeichen|[Ff]ehlgeschlagen|[Ff]ehlschl|[Ee]rfolgreich|Draht|gesichert|Zeitgrenze|Zeitüberschreitung|Operator|Admin\b|Eimer|hängen|Veröffentlichungen|Aufzeichnung|Aufgabenliste/
    expect(Object.entries(EVERY.de).filter(([, text]) => others.test(text))).toEqual([])
  })

  it('names the same things in both languages', () => {
    const differing = Object.entries(EVERY.en).filter(([key, text]) => {
      const german = EVERY.de[key as keyof typeof EVERY.de]
      return [...new Set(names(text))].join() !== [...new Set(names(german))].join()
    })
    expect(differing.map(([key]) => key)).toEqual([])
  })

  it('lists the same things in both languages', () => {
    const differing = Object.entries(EVERY.en).filter(([key, text]) => lists(text).join() !== lists(EVERY.de[key as keyof typeof EVERY.de]).join())
    expect(differing.map(([key]) => key)).toEqual([])
  })

  it('fills in a list in the way that is named, and leaves YAML as it is', () => {
    const names = { and: 'a and b', or: 'a or b', list: 'a, b', either: 'a | b' }
    expect(format('{names, or}: [{need: 1, of: [{names, list}]}], {names, either}', { names }, 'en')).toBe('a or b: [{need: 1, of: [a, b]}], a | b')
  })
})
