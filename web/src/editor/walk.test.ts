import { describe, expect, it } from 'vitest'
import { next, reading, stretched } from './walk'

describe('a selection that is stretched by keys', () => {
  it('takes in what the cursor comes to, and goes on from there', () => {
    expect(stretched(['a', 'b'], 'c')).toEqual(['a', 'b', 'c'])
    expect(stretched([], 'a')).toEqual(['a'])
  })

  it('lets go of the last one where the cursor goes back', () => {
    expect(stretched(['a', 'b', 'c'], 'b')).toEqual(['a', 'b'])
  })

  it('goes on from one that was selected long before', () => {
    expect(stretched(['a', 'b', 'c'], 'a')).toEqual(['b', 'c', 'a'])
  })
})

describe('a walk over the drawing', () => {
  const wire = { id: 'w', event: 'e', from: { box: 'a', port: 'out:done' }, to: { box: 'b', port: 'in0' }, failed: false, pill: null, outside: false, bundle: 'w' }
  const ground = { at: new Map<string, [number, number]>([['a', [0, 0]], ['b', [400, 0]], ['note:n', [100, 90]]]), wires: [wire] }

  it('reads notes among the boxes', () => {
    expect(reading(ground)).toEqual(['a', 'note:n', 'b'])
  })

  it('comes to a note and leaves it', () => {
    expect(next(ground, 'a', 'ArrowDown')).toBe('note:n')
    expect(next(ground, 'note:n', 'ArrowUp')).toBe('a')
    expect(next(ground, 'note:n', 'ArrowRight')).toBe('b')
  })

  it('follows a wire past what lies between', () => {
    expect(next(ground, 'a', 'ArrowRight')).toBe('b')
  })
})
