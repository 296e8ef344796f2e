/** The event under the pointer: who fires it and who waits for it are lit, wherever they are. */
import { create } from 'zustand'
import { firedBy } from './definition'
import type { Box } from './graph'

export const useHovered = create<{ event: string | null }>(() => ({ event: null }))

/** What an element that stands for an event does with the pointer. */
export function hovers(event: string) {
  return { onPointerEnter: () => useHovered.setState({ event }), onPointerLeave: leave }
}

const leave = () => useHovered.setState({ event: null })

const known = new WeakMap<Box, ReadonlySet<string>>()

/** The events that a box fires or waits for. */
export function touched(box: Box): ReadonlySet<string> {
  const found = known.get(box) ?? new Set(eventsOf(box))
  known.set(box, found)
  return found
}

function eventsOf(box: Box): string[] {
  if (box.kind === 'outside') return box.events
  if (box.kind === 'group') return [...box.pins.flatMap((pin) => pin.events), ...box.ports.map((port) => port.name)]
  if (box.kind !== 'step') return ['event' in box ? box.event : box.name]
  return [...box.pins.flatMap((pin) => pin.events), ...box.ports.flatMap((port) => firedBy(box.name, box.step, port.name))]
}

/** Whether a box has to do with the event under the pointer. */
export const useLinked = (box: Box): boolean => useHovered((state) => state.event !== null && touched(box).has(state.event))
