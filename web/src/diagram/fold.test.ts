import { describe, expect, it } from 'vitest'
import type { Definition, Point } from './definition'
import { folded } from './fold'
import { graphOf } from './graph'

const definition: Definition = {
  penstock: 1,
  name: 'w',
  steps: { a: { task: 'x' }, b: { task: 'y', after: 'a', fails: 'failed' }, c: { task: 'z', after: 'b', fails: 'failed' }, d: { task: 'q', after: ['a', 'c'] }, mail: { task: 'm', after: 'failed' } },
}
const places = new Map<string, Point>([['a', [0, 0]], ['b', [200, 40]], ['c', [400, 8]], ['d', [600, 0]], ['mail', [600, 200]]])
const graph = graphOf(definition)
const shown = folded(graph, places, [['g', { title: 'Middle', steps: ['b', 'c'] }]])
const wires = shown.graph.wires.map((wire) => `${wire.event}: ${wire.from.box} ${wire.to.box}`)

describe('a folded group', () => {
  it('stands in place of its steps, where they stood', () => {
    expect(shown.graph.boxes.some((box) => box.id === 'b' || box.id === 'c')).toBe(false)
    expect(shown.graph.boxes.find((box) => box.id === 'group:g')).toMatchObject({ kind: 'group', title: 'Middle', steps: ['b', 'c'] })
    expect(shown.places.get('group:g')).toEqual([200, 8])
    expect(shown.places.get('d')).toEqual([600, 0])
  })

  it('takes the wires that lead in and out, and none of those inside', () => {
    expect(wires).toContain('a: a group:g')
    expect(wires).toContain('c: group:g d')
    expect(wires.some((wire) => wire.startsWith('b:'))).toBe(false)
  })

  it('fires the same event from one port, however many of its steps fire it', () => {
    expect(wires.filter((wire) => wire === 'failed: group:g mail')).toHaveLength(1)
  })

  it('changes nothing where no group is folded', () => {
    expect(folded(graph, places, []).graph).toBe(graph)
  })
})
