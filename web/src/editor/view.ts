/** What is shown of the canvas just now, for commands that are not part of it. */
import type { ReactFlowInstance } from '@xyflow/react'
import { useSyncExternalStore } from 'react'
import type { Note, Point } from '@/diagram/definition'
import { fitting } from '@/diagram/diagram'
import type { Graph } from '@/diagram/graph'

export interface CanvasView {
  flow: ReactFlowInstance
  graph: Graph
  /** The same with its folded groups. */
  shown: Graph
  places: Map<string, Point> | null
  notes: Record<string, Note>
}

/** How large a note is that says nothing of it. */
export const NOTE: Point = [160, 48]

let current: CanvasView | null = null
const watchers = new Set<() => void>()

export const setCanvas = (view: CanvasView): void => {
  current = view
  for (const told of watchers) told()
}
export const canvas = (): CanvasView | null => current

/** The same for what is drawn beside it: the canvas comes after an edit, and what was looked up before would be of the old one. */
export const useCanvas = (): CanvasView | null => useSyncExternalStore(watch, canvas)

function watch(told: () => void): () => void {
  watchers.add(told)
  return () => watchers.delete(told)
}

/** The middle of what is seen. */
export function middle(): Point {
  const box = document.querySelector('.edcanvas')?.getBoundingClientRect()
  if (!current || !box) return [120, 120]
  const at = current.flow.screenToFlowPosition({ x: box.left + box.width / 2, y: box.top + box.height / 2 })
  return [Math.round(at.x / 16) * 16, Math.round(at.y / 16) * 16]
}

/** A part of the drawing, in its own measure. */
export interface Sight {
  left: number
  top: number
  right: number
  bottom: number
}

/** What is seen of the drawing; null before there is one. */
export function seen(): Sight | null {
  const box = document.querySelector('.edcanvas')?.getBoundingClientRect()
  if (!current || !box) return null
  const [from, to] = [current.flow.screenToFlowPosition({ x: box.left, y: box.top }), current.flow.screenToFlowPosition({ x: box.right, y: box.bottom })]
  return { left: from.x, top: from.y, right: to.x, bottom: to.y }
}

/** After the room for the drawing has become another: all of it, where some of it would be out of sight. */
export function showAll(): void {
  requestAnimationFrame(() => {
    const [sight, view] = [seen(), current]
    const hidden = view?.shown.boxes.some((box) => {
      const at = view.places?.get(box.id)
      return sight && at && (at[0] < sight.left || at[1] < sight.top || at[0] + box.width > sight.right || at[1] + box.height > sight.bottom)
    })
    if (hidden) void view?.flow.fitView({ ...fitting(), duration: 200 })
  })
}

/** Where a box or a note stands, and how large it is. */
function standingOf(id: string): { at: Point | undefined; width: number; height: number } | undefined {
  const note = id.startsWith('note:') ? current?.notes[id.slice(5)] : undefined
  if (note) return { at: note.at, width: note.size?.[0] ?? NOTE[0], height: note.size?.[1] ?? NOTE[1] }
  const box = current?.shown.boxes.find((each) => each.id === id) ?? current?.graph.boxes.find((each) => each.id === id)
  return box && { at: current?.places?.get(id), width: box.width, height: box.height }
}

/** Brings a box or a note into sight, without a jump where it is seen already. */
export function reveal(id: string): void {
  const box = standingOf(id)
  const at = box?.at
  const frame = document.querySelector('.edcanvas')?.getBoundingClientRect()
  if (!current || !at || !box || !frame) return
  const screen = current.flow.flowToScreenPosition({ x: at[0], y: at[1] })
  const right = Math.min(frame.right, document.querySelector('.insp')?.getBoundingClientRect().left ?? frame.right) // the inspector lies over it in a narrow window
  const inside = screen.x > frame.left + 20 && screen.y > frame.top + 20 && screen.x < right - 180 && screen.y < frame.bottom - 80
  const zoom = current.flow.getZoom()
  if (!inside) void current.flow.setCenter(at[0] + box.width / 2 + (frame.right - right) / 2 / zoom, at[1] + box.height / 2, { zoom, duration: 200 })
}

/** Where nothing has the focus any more, the drawing has it: keys go on from there. */
export function focusDrawing(): void {
  const now = document.activeElement
  if (!now || now === document.body) document.querySelector<HTMLElement>('.edcanvas')?.focus({ preventScroll: true })
}

/** After a move of the game: what can be fired next has the focus, where nothing else took it. */
export function focusMove(): void {
  const now = document.activeElement
  if (now && now !== document.body && !now.matches('.edcanvas')) return
  const next = document.querySelector<HTMLElement>('.edcanvas .fire')
  if (next) next.focus({ preventScroll: true })
  else focusDrawing()
}
