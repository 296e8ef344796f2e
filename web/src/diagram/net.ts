/** The rules of running on a drawing: enough to replay a trace and to play with tokens. What is sound is the server's to say. */
import { type Definition, type Slot, firedBy, slotsOf } from './definition'
import type { SlotMarking } from './marking'

export type Ending = 'succeeded' | 'failed' | 'canceled' | 'timed_out'

export interface State {
  /** Events that wait, oldest first, by `step|slot`. */
  slots: Readonly<Record<string, readonly string[]>>
  /** What a slot "n of m" still swallows. */
  owed: Readonly<Record<string, readonly string[]>>
  came: readonly string[]
  ok: boolean
  ending: Ending | null
}

export interface Fired {
  state: State
  /** Who got a copy of what. */
  copies: { event: string; steps: string[] }[]
  taken: string[]
}

const NOTHING: State = { slots: {}, owed: {}, came: [], ok: false, ending: null }
const ENDINGS: Record<string, Ending> = { FAIL: 'failed', CANCEL: 'canceled', TIMEOUT: 'timed_out' }

export const slotKey = (step: string, slot: number) => `${step}|${slot}`

/** A run that has just begun. */
export function begin(definition: Definition): Fired {
  return fireEvents(definition, NOTHING, ['START'])
}

/** R2: every slot that waits for an event gets a copy; one that it owes is swallowed. */
function fireEvents(definition: Definition, state: State, events: readonly string[]): Fired {
  const slots: Record<string, readonly string[]> = { ...state.slots }
  const owed: Record<string, readonly string[]> = { ...state.owed }
  let { ok, ending } = state
  const copies: Fired['copies'] = []
  for (const event of events) {
    const steps: string[] = []
    if (event === 'OK') ok = true
    ending ??= ENDINGS[event] ?? null
    for (const [name, step] of Object.entries(definition.steps)) {
      for (const [at, slot] of slotsOf(step).entries()) {
        if (!slot.events.includes(event)) continue
        const key = slotKey(name, at)
        if (owed[key]?.includes(event)) owed[key] = less(owed[key], event)
        else {
          slots[key] = [...(slots[key] ?? []), event]
          steps.push(name)
        }
      }
    }
    copies.push({ event, steps })
  }
  return { state: { ...state, slots, owed, ok, ending }, copies, taken: [] }
}

const less = (events: readonly string[], event: string): readonly string[] => events.toSpliced(events.indexOf(event), 1)

/** What a slot would take now, or null where it does not hold what it needs. */
function takes(slot: Slot, waiting: readonly string[]): string[] | null {
  if (slot.kind !== 'some') return waiting[0] === undefined ? null : [waiting[0]]
  const different = [...new Set(waiting)]
  return different.length < slot.need ? null : different.slice(0, slot.need)
}

/** R1: the steps that can fire. */
export function enabledSteps(definition: Definition, state: State): string[] {
  return Object.entries(definition.steps)
    .filter(([name, step]) => slotsOf(step).every((slot, at) => takes(slot, state.slots[slotKey(name, at)] ?? []) !== null))
    .map(([name]) => name)
}

/** R1 and R3: a step takes what it needs and ends on a port. */
export function fireStep(definition: Definition, state: State, name: string, port: string): Fired {
  const step = definition.steps[name]
  if (!step) return { state, copies: [], taken: [] }
  const slots: Record<string, readonly string[]> = { ...state.slots }
  const owed: Record<string, readonly string[]> = { ...state.owed }
  const taken: string[] = []
  for (const [at, slot] of slotsOf(step).entries()) {
    const key = slotKey(name, at)
    const took = takes(slot, slots[key] ?? []) ?? []
    taken.push(...took)
    slots[key] = took.reduce(less, slots[key] ?? [])
    if (slot.kind === 'some' && slot.rest !== 'keep') {
      const rest = slot.events.filter((event) => !took.includes(event))
      const here = rest.filter((event) => slots[key]?.includes(event))
      slots[key] = here.reduce(less, slots[key])
      owed[key] = [...(owed[key] ?? []), ...rest.filter((event) => !here.includes(event))]
    }
  }
  const events = firedBy(name, step, port)
  const fired = fireEvents(definition, { ...state, slots, owed }, events.filter((event) => event !== 'START'))
  if (port === 'failed' && !handled(definition, events)) {
    const failed = fireEvents(definition, fired.state, ['FAIL'])
    return { state: failed.state, copies: [...fired.copies, ...failed.copies], taken }
  }
  return { ...fired, taken }
}

/** R7: somebody waits for one of the events, or an end is listed. */
function handled(definition: Definition, events: readonly string[]): boolean {
  if (events.some((event) => ['OK', 'FAIL', 'CANCEL'].includes(event))) return true
  return Object.values(definition.steps).some((step) => slotsOf(step).some((slot) => slot.events.some((event) => events.includes(event))))
}

/** An event from outside comes; one that has come before counts only where it may come again. */
export function comeIn(definition: Definition, state: State, event: string): Fired {
  const again = (definition.external ?? []).some((each) => typeof each !== 'string' && each.name === event && each.many)
  if (state.came.includes(event) && !again) return { state, copies: [{ event, steps: [] }], taken: [] }
  const fired = fireEvents(definition, state, [event])
  return { ...fired, state: { ...fired.state, came: [...state.came, event] } }
}

/** R6: with the end of a run all that could fire is withdrawn, but for those that wait for that end: they clean up. */
export function withdrawn(definition: Definition, before: State, after: State): State {
  const [event] = Object.entries(ENDINGS).find(([, ending]) => ending === after.ending) ?? []
  if (event === undefined || before.ending !== null) return after
  const slots: Record<string, readonly string[]> = { ...after.slots }
  for (const name of enabledSteps(definition, after)) {
    const own = slotsOf(definition.steps[name] ?? {})
    if (own.some((slot) => slot.events.includes(event))) continue
    for (const [at, slot] of own.entries()) slots[slotKey(name, at)] = (takes(slot, slots[slotKey(name, at)] ?? []) ?? []).reduce(less, slots[slotKey(name, at)] ?? [])
  }
  return { ...after, slots }
}

/** The state in the shape in which the API gives the marking of a run. */
export function markingOf(definition: Definition, state: State): SlotMarking[] {
  return Object.entries(definition.steps).flatMap(([name, step]) =>
    slotsOf(step).map((slot, at) => ({ step: name, slot: at, takes: slot.events, need: slot.need, events: (state.slots[slotKey(name, at)] ?? []).map((event) => ({ event })) })),
  )
}

// -- traces --------------------------------------------------------------------------------------------------

export type TraceItem = { event?: string | null; fire?: string | null; port?: string | null }

export interface Frame {
  kind: 'event' | 'outside' | 'fire' | 'end'
  event?: string
  step?: string
  port?: string
  taken: string[]
  /** Steps that got a copy. */
  takers: string[]
  state: State
  moves: { event: string; from?: string; port?: string }[]
}

/** What a trace shows, one frame a firing, from START to where it ends. */
export function framesOf(definition: Definition, trace: readonly TraceItem[]): Frame[] {
  const first = begin(definition)
  const frames: Frame[] = [{ kind: 'event', event: 'START', taken: [], takers: takersOf(first), state: first.state, moves: [{ event: 'START' }] }]
  let state = first.state
  for (const item of trace) {
    if (item.fire) {
      const port = item.port ?? 'done'
      const fired = fireStep(definition, state, item.fire, port)
      state = fired.state
      frames.push({ kind: 'fire', step: item.fire, port, taken: fired.taken, takers: takersOf(fired), state, moves: fired.copies.map(({ event }) => ({ event, from: item.fire as string, port })) })
    } else if (item.event && item.event !== 'START') {
      const outside = comeIn(definition, state, item.event)
      state = outside.state
      frames.push({ kind: 'outside', event: item.event, taken: [], takers: takersOf(outside), state, moves: [{ event: item.event }] })
    }
  }
  const left = [...new Set(Object.entries(state.slots).filter(([, events]) => events.length > 0).map(([key]) => key.slice(0, key.lastIndexOf('|'))))]
  frames.push({ kind: 'end', taken: [], takers: left, state, moves: [] })
  return frames
}

const takersOf = (fired: Fired): string[] => [...new Set(fired.copies.flatMap((copy) => copy.steps))]
