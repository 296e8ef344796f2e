import { describe, expect, it } from 'vitest'
import { afterOf, emitsOf, firedBy, portsOf, slotsOf, writeEmits } from './definition'
import { graphOf } from './graph'
import { placesOf } from './place'
import { pathOf, routesOf } from './route'

const definition = {
  penstock: 1,
  name: 'w',
  external: ['go'],
  steps: {
    a: { task: 'x', emits: 'made', fails: 'broken' },
    b: { task: 'decide', after: ['a', 'go'], emits: { then: 'OK' }, with: { if: 'true' } },
    c: { task: 'y', after: { need: 2, of: ['made', 'go', 'lost'] } },
  },
}

describe('a definition', () => {
  it('waits for START where it says nothing', () => {
    expect(slotsOf({ task: 'x' })).toEqual([{ events: ['START'], need: 1, kind: 'one' }])
  })

  it('writes slots as it reads them', () => {
    for (const after of ['a', 'a | b', ['a', 'b | c'], { need: 2, of: ['a', 'b', 'c'] }]) expect(afterOf(slotsOf({ after }))).toEqual(after)
  })

  it('writes what ports fire as it reads it', () => {
    for (const step of [{ emits: 'a' }, { emits: ['a', 'b'], fails: 'c' }, { emits: { then: 'a', else: 'b' } }]) expect(writeEmits({ task: 'x' }, emitsOf(step))).toEqual({ task: 'x', ...step })
  })

  it('R3 fires its own names beside those that it lists', () => {
    expect(firedBy('a', definition.steps.a, 'done')).toEqual(['made', 'a.done', 'a'])
    expect(firedBy('a', definition.steps.a, 'failed')).toEqual(['broken', 'a.failed'])
  })

  it('has the ports of its task, `failed` last', () => {
    expect(portsOf({ task: 'decide' })).toEqual(['then', 'else', 'failed'])
    expect(portsOf({ task: 'switch', with: { cases: { big: 'true' } } })).toEqual(['big', 'else', 'failed'])
    expect(portsOf({ task: 'unknown' })).toEqual(['done', 'failed'])
  })
})

describe('a graph', () => {
  const graph = graphOf(definition)

  it('wires every event from who fires it to who waits for it', () => {
    const wires = graph.wires.map((wire) => `${wire.from.box} -${wire.event}> ${wire.to.box}`)
    expect(wires).toContain('a -a> b')
    expect(wires).toContain('a -made> c')
    expect(wires).toContain('@outside -go> b')
    expect(wires).toContain('@unfired:lost:c -lost> c')
    expect(wires).toContain('a -broken> @unused:broken')
    expect(wires).toContain('b -OK> @OK')
    expect(wires).toContain('@START -START> a')
  })

  it('shows one pin an event where a step waits for some of several', () => {
    const box = graph.boxes.find((each) => each.id === 'c')
    expect(box?.kind === 'step' && [box.pins.length, box.join]).toEqual([3, { kind: 'some', count: 3, need: 2 }])
  })

  it('gives every wire a way with right angles', () => {
    const routes = routesOf(graph, placesOf(graph, new Map()))
    expect(routes.length).toBe(graph.wires.length)
    for (const { points } of routes) for (const [at, point] of points.slice(1).entries()) expect(point[0] === points[at]?.[0] || point[1] === points[at]?.[1]).toBe(true)
    expect(pathOf([[0, 0], [10, 0], [10, 20]])).toBe('M0 0 L5 0 Q10 0 10 5 L10 20')
  })
})
