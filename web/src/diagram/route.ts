/** Finds right-angled ways for wires: around boxes, apart from wires of other events, together with those of the same. */
import type { Point } from './definition'
import type { Box, Graph, Wire } from './graph'
import { type Places, portAt } from './place'
import { type Stub, crowded, stubOf } from './stubs'

export interface Route {
  wire: Wire
  points: Point[]
  /** What is drawn of it: less where a wire of the same event was there before. */
  drawn: Point[]
  pill: Point | null
  /** How wide the pill may be without covering a port. */
  room?: number
  /** In place of a line that would cross too many others. */
  stub?: Stub
}

interface Rect {
  id: string
  left: number
  top: number
  right: number
  bottom: number
}
interface Line {
  event: string
  vertical: boolean
  at: number
  from: number
  to: number
}

const LANES = [0, 8, 16, 24, 32]
const CAREFUL = 220

/** A way for every wire. Above so many wires the ways are plain, so that a large drawing stays quick. */
export function routesOf(graph: Graph, places: Places): Route[] {
  const byId = new Map(graph.boxes.map((box) => [box.id, box]))
  const rects = graph.boxes.filter((box) => places.has(box.id)).map((box) => rectOf(box, places.get(box.id) as Point))
  const order = [...graph.wires].sort((one, two) => Number(one.failed) - Number(two.failed))
  const lanes = lanesOf(graph, places, byId)
  const careful = order.length <= CAREFUL
  const lines: Line[] = []
  const found: Route[] = []
  for (const wire of order) {
    const from = places.get(wire.from.box)
    const to = places.get(wire.to.box)
    if (!from || !to) continue
    const begin = portAt(byId.get(wire.from.box) as Box, wire.from.port, from)
    const end = portAt(byId.get(wire.to.box) as Box, wire.to.port, to)
    if (!careful) {
      found.push(plainRoute(wire, begin, end, lanes.get(wire.id) ?? 0))
      continue
    }
    const points = best(begin, end, wire, rects, lines, lanes)
    const drawn = cut(points, wire.bundle, lines)
    lines.push(...linesOf(points, wire.bundle))
    found.push({ wire, points, drawn, pill: null })
  }
  return careful ? withPills(withStubs(found, rects), rects) : found
}

function withStubs(routes: Route[], rects: Rect[]): Route[] {
  const taken = [...rects]
  const cut = new Map<Route, Stub>()
  for (const route of crowded(routes) as Route[]) {
    const stub = stubOf(route, taken)
    if (!stub) continue
    cut.set(route, stub)
    for (const [x, y] of stub.pills) taken.push({ id: '', left: x - 75, right: x + 75, top: y - 10, bottom: y + 10 })
  }
  return cut.size === 0 ? routes : routes.map((route) => (cut.has(route) ? { ...route, stub: cut.get(route) } : route))
}

const plainRoutes = new WeakMap<Wire, { key: string; route: Route }>()

/** In a large drawing a way depends on its ends alone; the same ends give the same object, which is not drawn again. */
function plainRoute(wire: Wire, begin: Point, end: Point, lane: number): Route {
  const key = `${begin} ${end} ${lane}`
  const known = plainRoutes.get(wire)
  if (known?.key === key) return known.route
  const points = plain(begin, end, lane)
  const [first, second] = points as [Point, Point]
  const route: Route = { wire, points, drawn: points, pill: wire.pill ? [(first[0] + second[0]) / 2, first[1]] : null }
  plainRoutes.set(wire, { key, route })
  return route
}

/** The way of one wire while a box is being dragged. */
export function plain(begin: Point, end: Point, lane = 0): Point[] {
  const [sx, sy] = begin
  const [tx, ty] = end
  if (Math.abs(sy - ty) < 0.5 && tx > sx) return [begin, end]
  if (tx > sx + 20) {
    const x = Math.max(sx + 10, tx - 14 - lane * 8)
    return [begin, [x, sy], [x, ty], end]
  }
  const y = Math.abs(sy - ty) > 60 ? (sy + ty) / 2 : Math.max(sy, ty) + 56
  return [begin, [sx + 12, sy], [sx + 12, y], [tx - 14 - lane * 8, y], [tx - 14 - lane * 8, ty], end]
}

function rectOf(box: Box, [x, y]: Point): Rect {
  return { id: box.id, left: x - 6, top: y - 6, right: x + box.width + 6, bottom: y + box.height + (box.kind === 'start' ? 20 : 6) }
}

/** Which of the parallel ways before a box a wire takes, so that those of one box do not cross. */
function lanesOf(graph: Graph, places: Places, byId: Map<string, Box>): Map<string, number> {
  const lanes = new Map<string, number>()
  const byTarget = Map.groupBy(graph.wires, (wire) => wire.to.box)
  for (const wires of byTarget.values()) {
    const known = wires.filter((wire) => places.has(wire.from.box) && places.has(wire.to.box))
    const ends = known.map((wire) => ({
      wire,
      sy: portAt(byId.get(wire.from.box) as Box, wire.from.port, places.get(wire.from.box) as Point)[1],
      ty: portAt(byId.get(wire.to.box) as Box, wire.to.port, places.get(wire.to.box) as Point)[1],
    }))
    const above = ends.filter((end) => end.sy < end.ty - 0.5).sort((one, two) => one.ty - two.ty)
    const below = ends.filter((end) => end.sy > end.ty + 0.5).sort((one, two) => two.ty - one.ty)
    for (const group of [above, below]) {
      const bundles = [...new Set(group.map((end) => `${end.wire.bundle}|${end.wire.to.port}`))]
      for (const end of group) lanes.set(end.wire.id, Math.min(bundles.indexOf(`${end.wire.bundle}|${end.wire.to.port}`), 6))
    }
  }
  return lanes
}

function best(begin: Point, end: Point, wire: Wire, rects: Rect[], lines: Line[], lanes: Map<string, number>): Point[] {
  const [sx, sy] = begin
  const [tx, ty] = end
  if (Math.abs(sy - ty) < 0.5 && tx > sx && hits([begin, end], rects, wire) === 0) return [begin, end]
  const lane = (lanes.get(wire.id) ?? 0) * 8
  const same = lines.filter((line) => line.event === wire.bundle)
  const nearTarget = LANES.map((by) => tx - 14 - lane - by)
  const nearSource = LANES.map((by) => sx + (wire.failed ? 8 : wire.event === 'START' ? 11 : 16) + by)
  const joined = same.filter((line) => line.vertical).map((line) => line.at)
  let chosen: Point[] = plain(begin, end)
  let cheapest = Number.POSITIVE_INFINITY
  const consider = (points: Point[]) => {
    // Failures go down beside their box and meet there: a long way at the height of each would hide the drawing.
    const along = wire.failed ? Math.max(0, (points[1]?.[0] ?? 0) - sx) * 0.8 : 0
    const price = cost(points, wire, rects, lines, same) + along
    if (price < cheapest) [cheapest, chosen] = [price, points]
  }
  const xs = (wire.failed || wire.event === 'START' ? [...joined, ...nearSource, ...nearTarget] : [...joined, ...nearTarget, ...nearSource]).filter((x) => x >= sx + 6 && x <= tx - 6)
  for (const x of xs) consider([begin, [x, sy], [x, ty], end])
  if (cheapest >= 400) for (const points of around(begin, end, nearSource, nearTarget, rects, same)) consider(points)
  return tidied(chosen)
}

/** Ways over or under what is between. */
function* around(begin: Point, end: Point, nearSource: number[], nearTarget: number[], rects: Rect[], same: Line[]): Generator<Point[]> {
  const [sx, sy] = begin
  const [tx, ty] = end
  const left = Math.min(sx, tx) - 40
  const right = Math.max(sx, tx) + 40
  const near = rects.filter((rect) => rect.right > left && rect.left < right)
  const ys = new Set<number>(same.filter((line) => !line.vertical).map((line) => line.at))
  for (const rect of near) {
    for (const by of [4, 12]) {
      ys.add(rect.top - by)
      ys.add(rect.bottom + by)
    }
  }
  const middle = (sy + ty) / 2
  const chosen = [...ys].sort((one, two) => Math.abs(one - middle) - Math.abs(two - middle)).slice(0, 24)
  const firsts = [...nearSource.slice(0, 3), ...same.filter((line) => line.vertical).map((line) => line.at)].filter((x) => x >= sx + 6)
  const lasts = [...nearTarget.slice(0, 3), ...same.filter((line) => line.vertical).map((line) => line.at)].filter((x) => x <= tx - 6)
  for (const y of chosen) for (const first of firsts) for (const last of lasts) yield [begin, [first, sy], [first, y], [last, y], [last, ty], end]
}

function cost(points: Point[], wire: Wire, rects: Rect[], lines: Line[], same: Line[]): number {
  let price = hits(points, rects, wire) * 5000 + points.length * 12
  for (const line of linesOf(points, wire.bundle)) {
    price += (line.to - line.from) * 0.2
    for (const other of lines) {
      if (other.event === wire.bundle) continue
      if (other.vertical === line.vertical) {
        if (Math.abs(other.at - line.at) < 5 && other.from < line.to - 2 && other.to > line.from + 2) price += 600
      } else if (other.at > line.from + 1 && other.at < line.to - 1 && line.at > other.from + 1 && line.at < other.to - 1) price += 14
    }
    for (const other of same) {
      if (other.vertical !== line.vertical || Math.abs(other.at - line.at) > 0.5) continue
      price -= Math.max(0, Math.min(other.to, line.to) - Math.max(other.from, line.from)) * 0.15
    }
  }
  return price
}

function hits(points: Point[], rects: Rect[], wire: Wire): number {
  let count = 0
  for (let at = 1; at < points.length; at++) {
    const [ax, ay] = points[at - 1] as Point
    const [bx, by] = points[at] as Point
    const [left, right] = ax < bx ? [ax, bx] : [bx, ax]
    const [top, bottom] = ay < by ? [ay, by] : [by, ay]
    for (const rect of rects) {
      if (right <= rect.left || left >= rect.right || bottom <= rect.top || top >= rect.bottom) continue
      const own = (at === 1 && rect.id === wire.from.box && right <= rect.right + 300 && left >= rect.right - 7) || (at === points.length - 1 && rect.id === wire.to.box && right <= rect.left + 7)
      if (!own) count++
    }
  }
  return count
}

function linesOf(points: Point[], event: string): Line[] {
  const found: Line[] = []
  for (let at = 1; at < points.length; at++) {
    const [ax, ay] = points[at - 1] as Point
    const [bx, by] = points[at] as Point
    const vertical = Math.abs(ax - bx) < 0.01
    found.push(vertical ? { event, vertical, at: ax, from: Math.min(ay, by), to: Math.max(ay, by) } : { event, vertical, at: ay, from: Math.min(ax, bx), to: Math.max(ax, bx) })
  }
  return found
}

/** Without corners that are none. */
function tidied(points: Point[]): Point[] {
  return points.filter((point, at) => {
    const before = points[at - 1]
    const after = points[at + 1]
    if (!before) return true
    if (Math.abs(before[0] - point[0]) < 0.01 && Math.abs(before[1] - point[1]) < 0.01) return false
    return !after || !((before[0] === point[0] && point[0] === after[0]) || (before[1] === point[1] && point[1] === after[1]))
  })
}

/** Leaves out the beginning and the end that a wire of the same event has drawn already: two dashed lines would not meet. */
function cut(points: Point[], event: string, lines: Line[]): Point[] {
  const same = lines.filter((line) => line.event === event)
  if (same.length === 0) return points
  const covered = (a: Point, b: Point): boolean => {
    const [line] = linesOf([a, b], event)
    return same.some((other) => other.vertical === line!.vertical && Math.abs(other.at - line!.at) < 0.5 && other.from <= line!.from + 0.5 && other.to >= line!.to - 0.5)
  }
  let first = 0
  while (first < points.length - 2 && covered(points[first] as Point, points[first + 1] as Point)) first++
  let last = points.length - 1
  while (last > first + 1 && covered(points[last - 1] as Point, points[last] as Point)) last--
  const rest = points.slice(first, last + 1)
  return [...shortened(rest.slice(0, 2) as [Point, Point], same, true), ...rest.slice(2, -1), ...(rest.length > 2 ? shortened(rest.slice(-2) as [Point, Point], same, false).slice(-1) : [])]
}

/** The part of a line that is not covered by one that begins with it. */
function shortened(pair: [Point, Point], same: Line[], fromStart: boolean): Point[] {
  const [a, b] = pair
  const [line] = linesOf(pair, '')
  const other = same.find((each) => each.vertical === line!.vertical && Math.abs(each.at - line!.at) < 0.5 && each.from < line!.to && each.to > line!.from)
  if (!other) return pair
  const axis = line!.vertical ? 1 : 0
  const moved: Point = fromStart ? [...a] : [...b]
  const anchor = fromStart ? a : b
  const far = fromStart ? b : a
  if (anchor[axis] < other.from || anchor[axis] > other.to) return pair
  moved[axis] = far[axis] > anchor[axis] ? Math.min(other.to, far[axis]) : Math.max(other.from, far[axis])
  return fromStart ? [moved, b] : [a, moved]
}

/** One pill an event and source, for failures one an event: on the longest level part where it covers no box. */
function withPills(routes: Route[], rects: Rect[]): Route[] {
  const told = new Set<string>()
  const taken: Rect[] = []
  return routes.map((route) => {
    const { wire } = route
    if (!wire.pill || route.stub) return route
    const own = `${wire.pill}|${wire.from.box}`
    if (told.has(own) || (wire.failed && told.has(wire.pill))) return route
    const width = Math.min(150, wire.pill.length * 5.9 + 26)
    const at = pillAt(route.points, width, rects, taken)
    if (!at) return route
    told.add(own)
    if (wire.failed) told.add(wire.pill)
    taken.push({ id: '', left: at[0] - width / 2 - 4, right: at[0] + width / 2 + 4, top: at[1] - 12, bottom: at[1] + 12 })
    return { ...route, pill: at, ...roomFor(route.points, at, width) }
  })
}

/** A step in a wire that is so small that a pill covers it. */
const JOG = 9

function pillAt(points: Point[], width: number, rects: Rect[], taken: Rect[]): Point | null {
  const [first, last] = [points[0] as Point, points.at(-1) as Point]
  if (points.length === 4 && Math.abs(first[1] - last[1]) < JOG && last[0] - first[0] < width * 1.6) return [(first[0] + last[0]) / 2, (first[1] + last[1]) / 2]
  let found: Point | null = null
  let longest = 0
  for (let at = 1; at < points.length; at++) {
    const [ax, ay] = points[at - 1] as Point
    const [bx, by] = points[at] as Point
    const length = Math.abs(bx - ax)
    if (ay !== by || length < 24) continue
    for (const share of [0.5, 0.35, 0.65]) {
      const x = ax + (bx - ax) * share
      const clear = (length < width + 10 ? [taken] : [taken, rects]).every((all) => isClear([x, ay], width, all))
      if (clear && length > longest) [found, longest] = [[x, ay], length]
    }
  }
  return found ?? elsewhere(points, width, rects, taken)
}

const isClear = ([x, y]: Point, width: number, taken: Rect[]): boolean => !taken.some((rect) => x + width / 2 > rect.left + 8 && x - width / 2 < rect.right - 8 && y + 8 > rect.top + 6 && y - 8 < rect.bottom - 6)

/** Where no level part has room: anywhere along the wire that is clear, at least of other pills; nowhere, rather than upon one of them. */
function elsewhere(points: Point[], width: number, rects: Rect[], taken: Rect[]): Point | null {
  const free = [middle(points), ...[0.5, 0.35, 0.65, 0.2, 0.8].map((share) => along(points, share))].filter((at): at is Point => at !== null && isClear(at, width, taken))
  return free.find((at) => isClear(at, width, rects)) ?? free[0] ?? null
}

/** How wide a pill on a short wire may be: it gives way to the ports at both ends. */
function roomFor(points: Point[], [x, y]: Point, width: number): { room?: number } {
  const [first, last] = [points[0] as Point, points.at(-1) as Point]
  const near = (end: Point) => (Math.abs(y - end[1]) < JOG ? Math.abs(x - end[0]) : width)
  const space = Math.min(near(first), near(last)) * 2 - 6
  return space < width && space > 40 ? { room: space } : {}
}

function middle(points: Point[]): Point | null {
  const at = Math.floor((points.length - 1) / 2)
  const one = points[at]
  const two = points[at + 1]
  return one && two ? [(one[0] + two[0]) / 2, (one[1] + two[1]) / 2] : null
}

/** What is drawn of a route: its line, or its two ends. */
export function shapeOf({ stub, points }: Route, line: Point[] = points): string {
  return stub ? `${pathOf(stub.out)} ${pathOf(stub.into)}` : pathOf(line)
}

/** The path of a wire, with rounded corners. */
export function pathOf(points: Point[], radius = 6): string {
  const [first, ...rest] = points
  if (!first) return ''
  let path = `M${first[0]} ${first[1]}`
  for (const [at, point] of rest.entries()) {
    const before = points[at] as Point
    const after = rest[at + 1]
    if (!after) {
      path += ` L${point[0]} ${point[1]}`
      continue
    }
    const into = Math.min(radius, distance(before, point) / 2, distance(point, after) / 2)
    const a = toward(point, before, into)
    const b = toward(point, after, into)
    path += ` L${a[0]} ${a[1]} Q${point[0]} ${point[1]} ${b[0]} ${b[1]}`
  }
  return path
}

const distance = (one: Point, two: Point) => Math.abs(one[0] - two[0]) + Math.abs(one[1] - two[1])

function toward([x, y]: Point, [tx, ty]: Point, by: number): Point {
  return [x + Math.sign(tx - x) * Math.min(by, Math.abs(tx - x)), y + Math.sign(ty - y) * Math.min(by, Math.abs(ty - y))]
}

/** The point that far along a way, 0 to 1. */
export function along(points: Point[], share: number): Point {
  const total = points.slice(1).reduce((sum, point, at) => sum + distance(points[at] as Point, point), 0)
  let left = total * share
  for (let at = 1; at < points.length; at++) {
    const a = points[at - 1] as Point
    const b = points[at] as Point
    const length = distance(a, b)
    if (left <= length) {
      const part = length === 0 ? 0 : left / length
      return [a[0] + (b[0] - a[0]) * part, a[1] + (b[1] - a[1]) * part]
    }
    left -= length
  }
  return points.at(-1) ?? [0, 0]
}
