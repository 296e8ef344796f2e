/** Where boxes stand: as the view says, else beside what they hang on. */
import type { Point, View } from './definition'
import type { Box, Graph } from './graph'

export type Places = ReadonlyMap<string, Point>

const GAP = 64
const ROW = 32

export function keptPlaces(view: View | undefined): Map<string, Point> {
  const found = new Map<string, Point>()
  for (const [id, at] of Object.entries(view?.positions ?? {})) {
    if (Array.isArray(at) && at.length === 2 && at.every((each) => Number.isFinite(each))) found.set(id, [at[0], at[1]])
  }
  return found
}

/** Whether so little is known that the whole should be laid out. */
export function wantsLayout(graph: Graph, kept: Places): boolean {
  const steps = graph.boxes.filter((box) => box.kind === 'step')
  return steps.length > 0 && !steps.some((box) => kept.has(box.id))
}

/** A place for every box; those without one are put beside those that they are wired to. */
export function placesOf(graph: Graph, kept: Places): Map<string, Point> {
  const places = new Map<string, Point>()
  for (const box of graph.boxes) {
    const at = kept.get(box.id)
    if (at) places.set(box.id, at)
  }
  const byId = new Map(graph.boxes.map((box) => [box.id, box]))
  const rank = { step: 0, group: 0, outside: 1, start: 2, cause: 3, end: 4, unfired: 5, unused: 6 }
  const open = graph.boxes.filter((box) => !places.has(box.id)).sort((one, two) => rank[one.kind] - rank[two.kind])
  for (const box of open) places.set(box.id, free(wish(box, graph, places, byId), box, places, byId))
  return places
}

function wish(box: Box, graph: Graph, places: Places, byId: Map<string, Box>): Point {
  const before = graph.wires.filter((wire) => wire.to.box === box.id && places.has(wire.from.box))
  const after = graph.wires.filter((wire) => wire.from.box === box.id && places.has(wire.to.box))
  const left = before[0]
  const right = after[0]
  if ((box.kind === 'start' || box.kind === 'outside' || box.kind === 'unfired' || box.kind === 'cause') && right) {
    const ys = after.map((wire) => portAt(byId.get(wire.to.box) as Box, wire.to.port, places.get(wire.to.box) as Point)[1])
    const xs = after.map((wire) => (places.get(wire.to.box) as Point)[0])
    const middle = box.kind === 'start' ? (Math.min(...ys) + Math.max(...ys)) / 2 : ys[0]!
    return [Math.min(...xs) - box.width - (box.kind === 'unfired' ? 24 : 32), middle - box.height / 2]
  }
  if (left) {
    const source = byId.get(left.from.box) as Box
    const at = places.get(left.from.box) as Point
    const [x, y] = portAt(source, left.from.port, at)
    const gap = box.kind === 'unused' || box.kind === 'end' ? 20 : GAP
    return [x + gap, y - (box.kind === 'step' ? Math.min(16, box.height / 2) : box.height / 2)]
  }
  if (right) return [(places.get(right.to.box) as Point)[0] - box.width - GAP, (places.get(right.to.box) as Point)[1]]
  const lowest = Math.max(0, ...[...places].map(([id, at]) => at[1] + (byId.get(id)?.height ?? 0)))
  return [72, places.size === 0 ? 36 : lowest + ROW]
}

/** The nearest place below the wish where nothing stands yet. */
function free(at: Point, box: Box, places: Places, byId: Map<string, Box>): Point {
  let [x, y] = at
  for (let tries = 0; tries < 200; tries++) {
    const hit = [...places].find(([id, other]) => {
      const there = byId.get(id)
      return there && x < other[0] + there.width + 8 && x + box.width + 8 > other[0] && y < other[1] + there.height + 8 && y + box.height + 8 > other[1]
    })
    if (!hit) break
    y = hit[1][1] + (byId.get(hit[0])?.height ?? 0) + 16
  }
  return box.kind === 'step' ? [Math.round(x / 4) * 4, Math.round(y / 4) * 4] : [Math.round(x), Math.round(y)]
}

/** Where on the canvas a pin or a port is. */
export function portAt(box: Box, port: string, at: Point): Point {
  const [x, y] = at
  const incoming = port.startsWith('in')
  switch (box.kind) {
    case 'group':
    case 'step': {
      const found = incoming ? box.pins.find((pin) => pin.id === port) : box.ports.find((each) => each.id === port)
      return [incoming ? x : x + box.width, y + (found?.y ?? box.height / 2)]
    }
    case 'outside':
      return [x + box.width, y + (box.ports.find((each) => each.id === port)?.y ?? box.height / 2)]
    case 'unused':
      return [x, y + box.height / 2]
    default:
      return [incoming ? x : x + box.width, y + box.height / 2]
  }
}
