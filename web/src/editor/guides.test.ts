import { describe, expect, it } from 'vitest'
import { align, clearOf, groundOf } from './guides'

const box = (left: number, top: number, width = 144, height = 50) => ({ left, top, width, height })

describe('guides', () => {
  it('bring a box in line with an edge that is near', () => {
    expect(align(box(103, 300), [box(100, 0)])).toEqual({ dx: -3, dy: 0, lines: [{ axis: 'x', at: 100, from: 0, to: 350 }, { axis: 'x', at: 172, from: 0, to: 350 }, { axis: 'x', at: 244, from: 0, to: 350 }] })
  })

  it('find centres of boxes of another size', () => {
    const { dy, lines } = align(box(400, 5, 34, 34), [box(0, 0)])
    expect(dy).toBe(3)
    expect(lines).toEqual([{ axis: 'y', at: 25, from: 0, to: 434 }])
  })

  it('leave alone what is too far from any line', () => {
    expect(align(box(120, 300), [box(0, 0)])).toEqual({ dx: 0, dy: 0, lines: [] })
  })

  it('take the nearest of several', () => {
    expect(align(box(100, 300), [box(96, 0, 20), box(102, 600, 20)]).dx).toBe(2)
  })
})

describe('a new box', () => {
  it('stands below what is there, however high that is', () => {
    const high = { left: 0, top: 0, width: 144, height: 200 }
    expect(clearOf([16, 16], [high])).toEqual([16, 208])
    expect(clearOf([400, 16], [high])).toEqual([400, 16])
  })

  it('covers no wire and no pill', () => {
    const wire = groundOf({ points: [[0, 48], [400, 48]], pill: [200, 48], wire: { pill: 'named' } })
    expect(clearOf([128, 0], wire)).toEqual([128, 80])
    expect(clearOf([128, 160], wire)).toEqual([128, 160])
  })
})
