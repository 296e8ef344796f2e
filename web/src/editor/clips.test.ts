import { describe, expect, it } from 'vitest'
import { shiftOf } from './clips'

const clip = { penstock: 1 as const, steps: {}, view: { positions: { a: [100, 100] as [number, number], b: [300, 100] as [number, number] } } }
const SIGHT = { left: 0, top: 0, right: 800, bottom: 600 }

describe('what is pasted', () => {
  it('stands beside what it was copied from, and beside what was pasted before', () => {
    expect(shiftOf(clip, [[100, 100], [300, 100]], SIGHT, [400, 300])).toEqual([32, 32])
    expect(shiftOf(clip, [[100, 100], [300, 100], [132, 132], [332, 132]], SIGHT, [400, 300])).toEqual([64, 64])
  })

  it('stands in the middle where it would not be seen', () => {
    expect(shiftOf(clip, [], { left: 2000, top: 0, right: 2800, bottom: 600 }, [2400, 304])).toEqual([2208, 208])
  })

  it('stands anywhere where it has no place', () => {
    expect(shiftOf({ ...clip, view: { positions: {} } }, [], SIGHT, [400, 300])).toEqual([32, 32])
  })
})
