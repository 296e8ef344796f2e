/** Wires that would cross too many others: each end says by a pill where it goes on. */
import type { Point } from './definition'
import type { Wire } from './graph'

/** What is drawn in place of a wire: a short piece and a pill at either end. */
export interface Stub {
  out: Point[]
  into: Point[]
  pills: [Point, Point]
}

interface Way {
  wire: Wire
  points: Point[]
}

interface Area {
  left: number
  top: number
  right: number
  bottom: number
}

/** Others that a wire may cross and still be followed with the eye. */
const MOST = 4
const ROUNDS = 24
const REACH = 10
const WIDEST = 150

interface Piece {
  way: number
  upright: boolean
  at: number
  from: number
  to: number
}

function piecesOf(ways: readonly Way[]): Piece[] {
  return ways.flatMap(({ points }, way) =>
    points.slice(1).map((to, at): Piece => {
      const from = points[at] as Point
      const upright = Math.abs(from[0] - to[0]) < 0.01
      const [one, two] = upright ? [from[1], to[1]] : [from[0], to[0]]
      return { way, upright, at: upright ? from[0] : from[1], from: Math.min(one, two), to: Math.max(one, two) }
    }),
  )
}

/** For each wire the bundles that it crosses: wires of one event that meet are one line to the eye. */
function crossed(ways: readonly Way[], without: ReadonlySet<Way>): Map<Way, Set<string>> {
  const shown = ways.filter((way) => !without.has(way))
  const pieces = piecesOf(shown)
  const level = pieces.filter((piece) => !piece.upright)
  const found = new Map(shown.map((way) => [way, new Set<string>()]))
  for (const one of pieces) {
    if (!one.upright) continue
    for (const two of level) {
      if (two.from >= one.at - 1 || two.to <= one.at + 1 || one.from >= two.at - 1 || one.to <= two.at + 1) continue
      const [a, b] = [shown[one.way] as Way, shown[two.way] as Way]
      if (a.wire.bundle === b.wire.bundle) continue
      found.get(a)?.add(b.wire.bundle)
      found.get(b)?.add(a.wire.bundle)
    }
  }
  return found
}

/** The wires that are better cut, the worst first: each that is cut frees others. Failures meet in one line, and START has no name. */
export function crowded(ways: readonly Way[]): Way[] {
  const cut = new Set<Way>()
  for (let round = 0; round < ROUNDS; round++) {
    const found = crossed(ways, cut)
    const worst = [...found].filter(([{ wire }, bundles]) => bundles.size > MOST && !wire.failed && wire.event !== 'START').sort(([, one], [, two]) => two.size - one.size)[0]
    if (!worst) break
    cut.add(worst[0])
  }
  return [...cut]
}

/** The two ends of a wire with their pills, where there is room for both; null where there is none. */
export function stubOf({ wire, points }: Way, taken: readonly Area[]): Stub | null {
  const width = Math.min(WIDEST, (wire.pill ?? wire.event).length * 5.9 + 26)
  const begin = points[0] as Point
  const end = points.at(-1) as Point
  const out = ended(begin, 1, width, taken)
  const into = ended(end, -1, width, taken)
  if (!out || !into) return null
  return { out: out.line, into: into.line.toReversed(), pills: [out.pill, into.pill] }
}

/** Straight on, else a little below or above. */
function ended([x, y]: Point, way: 1 | -1, width: number, taken: readonly Area[]): { line: Point[]; pill: Point } | null {
  for (const by of [0, 26, -26, 46, -46]) {
    const edge: Point = [x + way * (by === 0 ? REACH : REACH + 6), y + by]
    const pill: Point = [edge[0] + (way * width) / 2, y + by]
    const clear = !taken.some((area) => pill[0] + width / 2 > area.left && pill[0] - width / 2 < area.right && pill[1] + 10 > area.top && pill[1] - 10 < area.bottom)
    if (clear) return { line: by === 0 ? [[x, y], edge] : [[x, y], [x + way * REACH, y], [x + way * REACH, y + by], edge], pill }
  }
  return null
}
