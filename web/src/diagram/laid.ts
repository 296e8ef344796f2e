/** Drawings that were laid out before stand at once: a layout takes the engine a second, and the same drawing stands the same. */
import type { Point } from './definition'
import type { Graph } from './graph'
import { layOut } from './layout'
import { placesOf } from './place'

const KEPT = 'penstock.layouts.1'
const MOST = 40

/** What a layout depends on: sizes, ports and wires, by their numbers. Names are no part of it, so another name moves nothing. */
export function planOf(graph: Graph): string {
  const numbers = new Map(graph.boxes.map((box, at) => [box.id, at]))
  const ports = graph.boxes.map((box) => ('ports' in box ? box.ports.map((port) => [port.id, port.y] as const) : []))
  const pins = graph.boxes.map((box) => ('pins' in box ? box.pins.map((pin) => [pin.id, pin.y] as const) : []))
  const end = ({ box, port }: { box: string; port: string }, of: (readonly (readonly [string, number])[])[]) => {
    const at = numbers.get(box) ?? -1
    return [at, of[at]?.findIndex(([id]) => id === port) ?? -1]
  }
  const boxes = graph.boxes.map((box, at) => [box.kind, box.width, box.height, ports[at]?.map(([, y]) => y), pins[at]?.map(([, y]) => y)])
  const wires = graph.wires.map((wire) => [...end(wire.from, ports), ...end(wire.to, pins), wire.failed ? 1 : 0])
  return hashed(JSON.stringify([boxes, wires]))
}

/** Short, and as good as never the same for two. */
function hashed(text: string): string {
  let one = 0xdeadbeef
  let two = 0x41c6ce57
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    one = Math.imul(one ^ code, 2654435761)
    two = Math.imul(two ^ code, 1597334677)
  }
  return `${text.length.toString(36)}-${(one >>> 0).toString(36)}${(two >>> 0).toString(36)}`
}

type Stored = Record<string, number[]>
let memory: Map<string, number[]> | undefined

function known(): Map<string, number[]> {
  memory ??= new Map(Object.entries(stored()))
  return memory
}

function stored(): Stored {
  try {
    const found: unknown = JSON.parse(globalThis.localStorage?.getItem(KEPT) ?? '{}')
    return found !== null && typeof found === 'object' ? (found as Stored) : {}
  } catch {
    return {}
  }
}

/** Whether nothing was laid out in this browser yet: then the engine will be wanted. */
export const isFirst = (): boolean => known().size === 0

/** Where the boxes stood when such a drawing was laid out. */
export function remembered(graph: Graph): Map<string, Point> | null {
  const found = known().get(planOf(graph))
  if (found?.length !== graph.boxes.length * 2) return null
  return new Map(graph.boxes.map((box, at): [string, Point] => [box.id, [found[at * 2] as number, found[at * 2 + 1] as number]]))
}

export function remember(graph: Graph, places: ReadonlyMap<string, Point>, keep = true): void {
  const all = known()
  const plan = planOf(graph)
  all.delete(plan)
  all.set(plan, graph.boxes.flatMap((box) => places.get(box.id) ?? [0, 0]))
  while (all.size > MOST) all.delete(all.keys().next().value as string)
  if (!keep) return
  try {
    globalThis.localStorage?.setItem(KEPT, JSON.stringify(Object.fromEntries(all)))
  } catch {
    // a browser that keeps nothing lays out anew
  }
}

/** Lays out and remembers; where the engine cannot be had, boxes stand beside what they hang on. */
export async function laidOut(graph: Graph): Promise<void> {
  try {
    remember(graph, await layOut(graph))
  } catch {
    remember(graph, placesOf(graph, new Map()), false)
  }
}
