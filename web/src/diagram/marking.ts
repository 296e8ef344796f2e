/** The marking of a run as the API gives it, and what each pin shows of it. */
import type { StepBox } from './graph'

export interface SlotMarking {
  step: string
  slot: number
  takes: string[]
  need: number
  events: { event: string; number?: number }[]
}

/** How many tokens each pin of a box holds. */
export function tokensOf(box: StepBox, marking: readonly SlotMarking[]): Record<string, { count: number; part?: boolean }> {
  const found: Record<string, { count: number; part?: boolean }> = {}
  for (const pin of box.pins) {
    const slot = marking.find((each) => each.step === box.name && each.slot === pin.slot)
    if (!slot) continue
    const waiting = slot.events.filter((each) => pin.events.includes(each.event))
    if (waiting.length === 0) continue
    const different = new Set(waiting.map((each) => each.event)).size
    found[pin.id] = { count: waiting.length, ...(pin.label?.kind === 'some' && different < slot.need ? { part: true } : {}) }
  }
  return found
}

/** Events that wait somewhere. */
export function heldEvents(marking: readonly SlotMarking[] | undefined): Set<string> {
  return new Set((marking ?? []).flatMap((slot) => slot.events.map((each) => each.event)))
}
