/** Groups that are folded: their steps are drawn as one box, with the wires that lead in and out. */
import type { Group, Point } from './definition'
import type { Box, Graph, GroupBox, Pin, Port, Wire } from './graph'

const WIDTH = 156
const HEAD = 28
const ROW = 22

export const groupId = (id: string): string => `group:${id}`

/** The same drawing with the steps of those groups put together. Nothing else moves: each box stands where its first step stood. */
export function folded(graph: Graph, places: Map<string, Point>, groups: readonly [string, Group][]): { graph: Graph; places: Map<string, Point> } {
  const names = new Set(graph.boxes.flatMap((box) => (box.kind === 'step' ? [box.id] : [])))
  const inside = new Map<string, string>()
  for (const [id, group] of groups) for (const step of group.steps) if (names.has(step) && !inside.has(step)) inside.set(step, groupId(id))
  if (inside.size === 0) return { graph, places }
  const made = new Map<string, Folding>()
  for (const [id, group] of groups) {
    const steps = group.steps.filter((step) => inside.get(step) === groupId(id))
    if (steps.length > 0) made.set(groupId(id), new Folding(groupId(id), group.title, steps))
  }
  const wires = joined(graph.wires, inside, made)
  const used = new Set(wires.flatMap((wire) => [wire.from.box, wire.to.box]))
  const boxes = graph.boxes.filter((box) => !inside.has(box.id) && (used.has(box.id) || !isLoose(box)))
  const spots = new Map(places)
  for (const folding of made.values()) spots.set(folding.id, corner(folding.steps.flatMap((step) => (places.has(step) ? [places.get(step) as Point] : []))))
  return { graph: { boxes: [...boxes, ...[...made.values()].map((folding) => folding.box())], wires }, places: spots }
}

const isLoose = (box: Box): boolean => box.kind === 'unfired' || box.kind === 'unused'

function corner(points: Point[]): Point {
  return points.length === 0 ? [0, 0] : [Math.min(...points.map(([x]) => x)), Math.min(...points.map(([, y]) => y))]
}

/** Wires between others stay as they are, those inside a group go, those over its edge end there: several of one event as one. */
function joined(wires: readonly Wire[], inside: Map<string, string>, made: Map<string, Folding>): Wire[] {
  const found = new Map<string, Wire>()
  for (const wire of wires) {
    const [from, to] = [made.get(inside.get(wire.from.box) ?? ''), made.get(inside.get(wire.to.box) ?? '')]
    if (from && from === to) continue
    const ends = { from: from ? { box: from.id, port: from.port(wire) } : wire.from, to: to ? { box: to.id, port: to.pin(wire) } : wire.to }
    const key = `${wire.event}|${ends.from.box}|${ends.from.port}|${ends.to.box}|${ends.to.port}`
    if (!found.has(key)) found.set(key, from || to ? { ...wire, ...ends } : wire)
  }
  return [...found.values()]
}

class Folding {
  private readonly pins: string[] = []
  private readonly ports: { event: string; failed: boolean }[] = []

  constructor(
    readonly id: string,
    private readonly title: string,
    readonly steps: string[],
  ) {}

  /** Where a wire ends that leads in: one place an event. */
  pin({ event }: Wire): string {
    if (!this.pins.includes(event)) this.pins.push(event)
    return `in${this.pins.indexOf(event)}`
  }

  port({ event, failed }: Wire): string {
    if (!this.ports.some((each) => each.event === event && each.failed === failed)) this.ports.push({ event, failed })
    return `out:${failed ? 'failed ' : ''}${event}`
  }

  box(): GroupBox {
    const rows = Math.max(this.pins.length, this.ports.length)
    const height = Math.max(50, HEAD + ROW * Math.max(1, rows))
    const y = (at: number, count: number) => (count === 1 ? height / 2 : HEAD + ROW * at + 8)
    return {
      kind: 'group',
      id: this.id,
      title: this.title,
      steps: this.steps,
      pins: this.pins.map((event, at): Pin => ({ id: `in${at}`, slot: at, events: [event], y: y(at, this.pins.length) })),
      ports: this.ports.map(({ event, failed }, at): Port => ({ id: `out:${failed ? 'failed ' : ''}${event}`, name: event, y: y(at, this.ports.length), failed, named: false })),
      width: WIDTH,
      height,
    }
  }
}
