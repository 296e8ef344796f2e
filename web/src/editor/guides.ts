/** Lines that help while boxes are dragged: edges and centres of others, near enough to be meant. */
import type { Node, NodeChange } from '@xyflow/react'
import { useCallback, useMemo, useRef, useState } from 'react'
import type { Point } from '@/diagram/definition'
import type { Graph } from '@/diagram/graph'
import type { Route } from '@/diagram/route'

export interface Rect {
  left: number
  top: number
  width: number
  height: number
}

/** One line: `x` is upright at that x, from and to are heights; `y` is level. */
export interface Guide {
  axis: 'x' | 'y'
  at: number
  from: number
  to: number
}

/** As far as half a square of the grid: within it a neighbour counts more than the grid. */
const REACH = 7
/** What is further away is out of sight: a line to it would say nothing. */
const FAR = 1600

interface Hit {
  by: number
  at: number
  other: Rect
}

const edges = (begin: number, size: number): number[] => [begin, begin + size / 2, begin + size]

/** The smallest move that brings an edge or the centre onto one of another box, and all that then agree. */
function nearest(begin: number, size: number, others: readonly { begin: number; size: number; rect: Rect }[]): Hit[] {
  let least = REACH + 1
  let found: Hit[] = []
  for (const other of others) {
    for (const at of edges(other.begin, other.size)) {
      for (const mine of edges(begin, size)) {
        const by = at - mine
        if (Math.abs(by) > REACH || Math.abs(by) > Math.abs(least) + 0.01) continue
        if (Math.abs(by) < Math.abs(least) - 0.01) found = []
        least = by
        if (found.every((hit) => Math.abs(hit.by - by) < 0.01)) found.push({ by, at, other: other.rect })
      }
    }
  }
  return found
}

/** How far a box has to be moved to stand in line with others, and the lines that show it. */
export function align(moving: Rect, others: readonly Rect[]): { dx: number; dy: number; lines: Guide[] } {
  const near = others.filter((each) => Math.abs(each.left - moving.left) < FAR && Math.abs(each.top - moving.top) < FAR)
  const across = nearest(moving.left, moving.width, near.map((rect) => ({ begin: rect.left, size: rect.width, rect })))
  const down = nearest(moving.top, moving.height, near.map((rect) => ({ begin: rect.top, size: rect.height, rect })))
  const [dx, dy] = [across[0]?.by ?? 0, down[0]?.by ?? 0]
  const [left, top] = [moving.left + dx, moving.top + dy]
  return {
    dx,
    dy,
    lines: [
      ...joined('x', across, (rect) => [rect.top, rect.top + rect.height], [top, top + moving.height]),
      ...joined('y', down, (rect) => [rect.left, rect.left + rect.width], [left, left + moving.width]),
    ],
  }
}

/** One line for each place, as long as all that stand on it. */
function joined(axis: Guide['axis'], hits: Hit[], span: (rect: Rect) => [number, number], own: [number, number]): Guide[] {
  return [...Map.groupBy(hits, (hit) => Math.round(hit.at * 4) / 4)].map(([at, group]) => {
    const spans = [own, ...group.map((hit) => span(hit.other))]
    return { axis, at, from: Math.min(...spans.map(([from]) => from)), to: Math.max(...spans.map(([, to]) => to)) }
  })
}

/** How much room a new box takes. */
const ROOM = { width: 160, height: 72 }

/** What a wire covers: a strip along each part of its line, and its pill. */
export function groundOf({ points, pill, wire }: Pick<Route, 'points' | 'pill'> & { wire: Pick<Route['wire'], 'pill'> }): Rect[] {
  const strips = points.slice(1).map((to, at): Rect => {
    const from = points[at] as Point
    return { left: Math.min(from[0], to[0]) - 4, top: Math.min(from[1], to[1]) - 4, width: Math.abs(to[0] - from[0]) + 8, height: Math.abs(to[1] - from[1]) + 8 }
  })
  const width = Math.min(140, (wire.pill?.length ?? 0) * 6 + 30)
  return pill ? [...strips, { left: pill[0] - width / 2, top: pill[1] - 10, width, height: 20 }] : strips
}

/** The nearest place on the grid, at a wish or below it, where a new box stands on nothing. */
export function clearOf(wish: Point, taken: readonly Rect[]): Point {
  const [x, begin] = [Math.round(wish[0] / 16) * 16, Math.round(wish[1] / 16) * 16]
  let y = begin
  const hit = (each: Rect) => x < each.left + each.width && each.left < x + ROOM.width && y < each.top + each.height + 8 && each.top < y + ROOM.height
  while (taken.some(hit)) y += 16
  return [x, y]
}

const around = (rects: Rect[]): Rect => {
  const left = Math.min(...rects.map((rect) => rect.left))
  const top = Math.min(...rects.map((rect) => rect.top))
  return { left, top, width: Math.max(...rects.map((rect) => rect.left + rect.width)) - left, height: Math.max(...rects.map((rect) => rect.top + rect.height)) - top }
}

/** Lets what is dragged stand in line with what is there. */
export function useGuides(graph: Graph, places: Map<string, Point> | null) {
  const [lines, setLines] = useState<Guide[]>([])
  const sizes = useMemo(() => new Map(graph.boxes.map((box) => [box.id, box])), [graph])
  const latest = useRef({ sizes, places })
  latest.current = { sizes, places }
  const by = useRef<Point>([0, 0])

  /** The same changes, with dragged boxes where the lines have them. */
  const lined = useCallback((changes: NodeChange[]): NodeChange[] => {
    const { sizes: known, places: there } = latest.current
    const moving = changes.filter((change) => change.type === 'position' && change.position !== undefined && known.has(change.id)) as { id: string; position: { x: number; y: number }; dragging?: boolean }[]
    if (moving.length === 0 || !there) return changes
    if (moving.some((change) => change.dragging)) {
      const ids = new Set(moving.map((change) => change.id))
      const rect = (id: string, [left, top]: Point): Rect => ({ left, top, width: known.get(id)?.width ?? 0, height: known.get(id)?.height ?? 0 })
      const others = [...there].filter(([id]) => !ids.has(id) && known.has(id) && !id.startsWith('@un')).map(([id, at]) => rect(id, at))
      const found = align(around(moving.map((change) => rect(change.id, [change.position.x, change.position.y]))), others)
      by.current = [found.dx, found.dy]
      setLines((now) => (JSON.stringify(now) === JSON.stringify(found.lines) ? now : found.lines))
    }
    const [dx, dy] = by.current
    return changes.map((change) => (change.type === 'position' && change.position ? { ...change, position: { x: change.position.x + dx, y: change.position.y + dy } } : change))
  }, [])

  /** Where dragged boxes are, with the lines. */
  const moved = useCallback((nodes: Node[]): Node[] => {
    const [dx, dy] = by.current
    return dx === 0 && dy === 0 ? nodes : nodes.map((node) => ({ ...node, position: { x: node.position.x + dx, y: node.position.y + dy } }))
  }, [])

  const end = useCallback(() => {
    by.current = [0, 0]
    setLines((now) => (now.length === 0 ? now : []))
  }, [])
  return { lines, lined, moved, end }
}
