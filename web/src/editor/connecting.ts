/** What a wire may join, what it does to the definition, and why it may not be. */
import { type Definition, type Offers, type Slot, type Step, afterOf as writeAfter, emitsOf, externalsOf, firedBy, isReserved, portsOf, slotsOf } from '@/diagram/definition'
import { type Box, type Graph, OUTSIDE, START, type StepBox } from '@/diagram/graph'
import type { MessageKey } from '@/messages'
import { type Edit, fire, fireNoMore, waitFor, waitNoMore } from './document'

export interface Grip {
  box: string
  port: string
}

export interface Refusal {
  key: MessageKey
  values?: Record<string, string>
}

/** What a wire from here to there would do. */
export type Joining =
  | { kind: 'refused'; why: Refusal }
  | { kind: 'fires'; edit: Edit }
  | { kind: 'waits'; step: string; event: string; /** What the step waits for already, of which this may take the place: how? */ others: Other[]; same: string | null }

/** A slot that is filled already. */
export interface Other {
  at: number
  slot: Slot
}

/** How a step waits for one more event: for it too, for it or the others of a slot, or for the one that is waited for there. */
export type How = 'all' | 'same' | { slot: number }

const refused = (key: MessageKey, values?: Record<string, string>): Joining => ({ kind: 'refused', why: values ? { key, values } : { key } })

const isEnd = (box: string) => box === '@OK' || box === '@FAIL' || box === '@CANCEL'
const isCause = (box: string) => box === '@TIMEOUT'

/** Whether only that port fires the event: then a wire from it may carry it. */
function alone(definition: Definition, from: Grip, event: string): boolean {
  const firing = Object.entries(definition.steps).flatMap(([name, step]) => Object.entries(emitsOf(step)).filter(([, events]) => events.includes(event)).map(([port]) => `${name}|out:${port}`))
  return firing.every((each) => each === `${from.box}|${from.port}`)
}

const waitsFor = (definition: Definition, name: string, event: string): boolean => slotsOf(definition.steps[name] ?? {}).some((slot) => slot.events.includes(event))

/** Failures go together as `failed`, unless somebody else waits for those already. */
function shared(definition: Definition, target: string | undefined): boolean {
  if (externalsOf(definition).includes('failed') || definition.steps.failed) return false
  return !Object.keys(definition.steps).some((name) => name !== target && waitsFor(definition, name, 'failed'))
}

/** The event that a wire from there carries; null where there is none. */
export function eventFrom(definition: Definition, from: Grip, target?: string): string | null {
  if (from.box === START) return 'START'
  if (from.box.startsWith(OUTSIDE)) return from.port === 'out:all' ? null : from.port.slice(4)
  if (isEnd(from.box) || isCause(from.box)) return from.box.slice(1)
  const step = definition.steps[from.box]
  if (!step) return null
  const port = from.port.slice(4)
  const listed = (emitsOf(step)[port] ?? []).filter((event) => !isReserved(event))
  const own = listed.find((event) => alone(definition, from, event))
  if (own) return own
  if (port === 'failed' && shared(definition, target)) return 'failed'
  return port === 'done' ? from.box : `${from.box}.${port}`
}

/** What would become of a wire. */
export function join(definition: Definition, graph: Graph, from: Grip, to: Grip): Joining {
  if (from.port.startsWith('in') || (to.port.startsWith('out') && !definition.steps[to.box])) return refused(to.box === START ? 'refuse.start' : 'refuse.direction')
  if (from.box === '@OK') return refused('refuse.ok')
  if (from.box.startsWith('@unfired')) return refused('refuse.loose', { event: from.box.split(':')[1] ?? '' })
  if (to.box === START) return refused('refuse.start')
  if (to.box.startsWith('group:') || from.box.startsWith('group:')) return refused('refuse.group')
  if (to.box.startsWith(OUTSIDE)) return refused('refuse.outside')
  if (isEnd(to.box)) return toEnd(definition, from, to.box.slice(1))
  const target = graph.boxes.find((box) => box.id === to.box)
  if (target?.kind !== 'step') return toLoose(definition, from, target)
  return toStep(definition, from, to, target)
}

function toEnd(definition: Definition, from: Grip, name: string): Joining {
  const step = definition.steps[from.box]
  if (!step) return refused('refuse.onlySteps', { name })
  const port = from.port.slice(4)
  if ((emitsOf(step)[port] ?? []).includes(name)) return refused('refuse.fires', { step: step.title ?? from.box, event: name })
  return { kind: 'fires', edit: fire(from.box, port, name) }
}

/** A wire to the pill of an event: the step fires it too. */
function toLoose(definition: Definition, from: Grip, target: Box | undefined): Joining {
  if (!target || !('event' in target) || !definition.steps[from.box]) return refused('refuse.direction')
  return { kind: 'fires', edit: fire(from.box, from.port.slice(4), target.event) }
}

function toStep(definition: Definition, from: Grip, to: Grip, target: StepBox): Joining {
  const name = target.name
  const event = eventFrom(definition, from, name)
  if (event === null) return refused('refuse.direction')
  const step = definition.steps[name] ?? {}
  const title = step.title ?? name
  const slots = slotsOf(step)
  const waits = slots.flatMap((slot) => slot.events)
  const source = definition.steps[from.box]
  if (waits.includes(event) && source && !fires(definition, from, event)) return { kind: 'fires', edit: fire(from.box, from.port.slice(4), event) }
  if (waits.includes(event) && step.after !== undefined) return refused('refuse.already', { step: title, event })
  if (event === 'START' && step.after === undefined) return refused('refuse.already', { step: title, event })
  const pin = target.pins.find((each) => each.id === to.port)
  const taken = pin?.events.length === 1 && step.after !== undefined && source ? pin.events[0] : undefined
  const same = taken !== undefined && canShare(definition, taken) ? taken : null
  const others = step.after === undefined ? [] : slots.map((slot, at): Other => ({ at, slot }))
  return { kind: 'waits', step: name, event, others: pin ? others.filter((each) => each.at === pin.slot) : others, same }
}

/** Whether another step may fire that event too: not START, not one from outside, not a step's own name. */
function canShare(definition: Definition, event: string): boolean {
  if (isReserved(event) || externalsOf(definition).includes(event)) return false
  return !Object.keys(definition.steps).some((name) => event === name || event.startsWith(`${name}.`))
}

export function joinEdit(joining: Joining, how: How, from: Grip): Edit {
  if (joining.kind === 'fires') return joining.edit
  if (joining.kind === 'refused') return (definition) => definition
  if (how === 'same' && joining.same) return fire(from.box, from.port.slice(4), joining.same)
  const waiting = waitFor(joining.step, joining.event, how === 'same' ? 'all' : how)
  return (definition) => {
    const made = waiting(definition)
    return made.steps[from.box] && !fires(made, from, joining.event) ? fire(from.box, from.port.slice(4), joining.event)(made) : made
  }
}

/** Whether a port fires an event, by its list or by its own name (R3). */
const fires = (definition: Definition, from: Grip, event: string): boolean => firedBy(from.box, definition.steps[from.box] ?? {}, from.port.slice(4)).includes(event)

/** Takes a wire away: who waits for it waits no more, or who fires it fires it no more where an end or nobody takes it. */
export function cutWire(graph: Graph, id: string): Edit {
  const wire = graph.wires.find((each) => each.id === id)
  if (!wire) return (definition) => definition
  const target = graph.boxes.find((box) => box.id === wire.to.box)
  if (target?.kind === 'step') {
    const others = graph.wires.some((each) => each !== wire && each.event === wire.event && each.to.box === wire.to.box)
    if (others && !wire.from.box.startsWith('@')) return fireNoMore(wire.from.box, wire.from.port.slice(4), wire.event)
    return waitNoMore(target.name, wire.event)
  }
  return fireNoMore(wire.from.box, wire.from.port.slice(4), wire.event)
}

/** The port that a step goes on by: `done`, else the first that its task has. */
function wayOn(step: Step, offers: Offers): string {
  const ports = portsOf(step, offers)
  return ports.includes('done') ? 'done' : (ports[0] ?? 'done')
}

/** Puts a new step into a wire: it waits for what the old target waited for, which now waits for the new step. */
export function insertInto(graph: Graph, id: string, name: string, offers: Offers = {}): Edit {
  const wire = graph.wires.find((each) => each.id === id)
  if (!wire) return (definition) => definition
  return (definition) => {
    const target = graph.boxes.find((box) => box.id === wire.to.box)
    let made = waitFor(name, wire.event)(definition)
    const port = wayOn(definition.steps[name] ?? {}, offers)
    const ended = port === 'done' ? name : `${name}.${port}`
    if (target?.kind === 'step') {
      const step = made.steps[target.name] ?? {}
      const slots = slotsOf(step)
      const after = slots.map((slot) => ({ ...slot, events: slot.events.map((event) => (event === wire.event ? ended : event)) }))
      made = { ...made, steps: { ...made.steps, [target.name]: { ...step, after: writeAfter(after) } } }
    } else if (target && target.kind !== 'outside' && target.kind !== 'group') {
      const event = 'event' in target ? target.event : target.name
      const own = wire.from.port.slice(4) === 'done' ? wire.from.box : `${wire.from.box}.${wire.from.port.slice(4)}`
      made = fireNoMore(wire.from.box, wire.from.port.slice(4), event)(waitNoMore(name, wire.event)(made))
      made = fire(name, port, event)(waitFor(name, own)(made))
    }
    return made
  }
}
