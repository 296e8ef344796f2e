/** Which box or note is next along the wires, or beside, for the arrow keys. */
import type { Note, Point } from '@/diagram/definition'
import type { Graph, Wire } from '@/diagram/graph'

export type Way = 'ArrowLeft' | 'ArrowRight' | 'ArrowUp' | 'ArrowDown'

/** What can be walked to and where it stands, and the wires between. */
export interface Ground {
  at: ReadonlyMap<string, Point>
  wires: readonly Wire[]
}

export function walkable({ boxes, wires }: Graph, places: ReadonlyMap<string, Point>, notes: Record<string, Note> = {}): Ground {
  const noted = Object.entries(notes).map(([id, note]): [string, Point] => [`note:${id}`, note.at])
  return { at: new Map([...boxes.map((box): [string, Point] => [box.id, places.get(box.id) ?? [0, 0]]), ...noted]), wires }
}

/** All of it as it is read: from left to right, and from top to bottom. */
export function reading({ at }: Ground): string[] {
  return [...at].sort(([, one], [, two]) => one[0] - two[0] || one[1] - two[1]).map(([id]) => id)
}

/** Left and right go along wires; up and down to what is nearest above or below. */
export function next(ground: Ground, from: string | undefined, way: Way): string | undefined {
  const here = from === undefined ? undefined : ground.at.get(from)
  if (from === undefined || !here) return reading(ground)[0]
  const near = (ids: string[]) => ids.toSorted((one, two) => distance(here, ground.at.get(one)) - distance(here, ground.at.get(two)))[0]
  if (way === 'ArrowRight') return near([...new Set(ground.wires.filter((wire) => wire.from.box === from && wire.to.box !== from).map((wire) => wire.to.box))]) ?? beside(ground, from, 1)
  if (way === 'ArrowLeft') return near([...new Set(ground.wires.filter((wire) => wire.to.box === from && wire.from.box !== from).map((wire) => wire.from.box))]) ?? beside(ground, from, -1)
  const sign = way === 'ArrowDown' ? 1 : -1
  const there = [...ground.at].filter(([id, at]) => id !== from && (at[1] - here[1]) * sign > 4).map(([id]) => id)
  return there.toSorted((one, two) => skewed(here, ground.at.get(one)) - skewed(here, ground.at.get(two)))[0]
}

function beside(ground: Ground, from: string, by: number): string | undefined {
  const order = reading(ground)
  return order[order.indexOf(from) + by]
}

const distance = (at: Point, to: Point | undefined) => (to ? Math.hypot(to[0] - at[0], to[1] - at[1]) : Number.POSITIVE_INFINITY)
const skewed = (at: Point, to: Point | undefined) => (to ? Math.abs(to[1] - at[1]) + Math.abs(to[0] - at[0]) * 1.5 : Number.POSITIVE_INFINITY)

/** What is selected after a step of the cursor, which is the last of it: one more; one less where it goes back. */
export function stretched(selection: readonly string[], to: string): string[] {
  return selection.at(-2) === to ? selection.slice(0, -1) : [...selection.filter((id) => id !== to), to]
}
