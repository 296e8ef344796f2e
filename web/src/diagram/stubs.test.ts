import { describe, expect, it } from 'vitest'
import type { Definition, Point } from './definition'
import { graphOf } from './graph'
import { routesOf } from './route'

/** So many wires from left to right whose order is turned round: the first crosses all others. */
function crossing(count: number, apart = 400) {
  const rows = Array.from({ length: count }, (_each, at) => at)
  const steps = Object.fromEntries(rows.flatMap((at) => [[`a${at}`, { task: 'x', emits: `e${at}` }], [`b${at}`, { task: 'y', after: `e${at}` }]]))
  const places = new Map<string, Point>(rows.flatMap((at): [string, Point][] => [[`a${at}`, [0, at * 100]], [`b${at}`, [apart, (count - 1 - at) * 100]]]))
  const graph = graphOf({ penstock: 1, name: 'w', steps } as Definition)
  return routesOf({ boxes: graph.boxes.filter((box) => places.has(box.id)), wires: graph.wires.filter((wire) => places.has(wire.from.box) && places.has(wire.to.box)) }, places)
}

describe('a crowded wire', () => {
  it('becomes two ends with a pill each', () => {
    const cut = crossing(7).filter((route) => route.stub)
    expect(cut.length).toBeGreaterThan(0)
    for (const { stub, points } of cut) {
      expect(stub?.out[0]).toEqual(points[0])
      expect(stub?.into.at(-1)).toEqual(points.at(-1))
      expect(stub?.pills[0]?.[0]).toBeLessThan(stub?.pills[1]?.[0] ?? 0)
    }
  })

  it('is left alone where it crosses four others', () => {
    expect(crossing(5).filter((route) => route.stub)).toEqual([])
  })

  it('stays whole where there is no room for its pills', () => {
    expect(crossing(7, 170).filter((route) => route.stub)).toEqual([])
  })
})
