/** Edits of a definition, as plain functions: each gives a new definition and leaves the old one as it was. */
import { type Definition, type External, type Group, type Note, type Offers, type Point, type Slot, type Step, afterOf, emitsOf, eventsOf, externalName, externalsOf, inOrder, isReserved, slotsOf, writeEmits } from '@/diagram/definition'
import { keyOrder } from './blank'
import { renameInExpressions } from './expressions'

export { EMPTY, keyOrder } from './blank'

export type Edit = (definition: Definition) => Definition

const NAME = /^[\p{L}\p{N} _.\-/()]{1,128}$/u

/** Why a name cannot be, or null. */
export function whyNotName(name: string, definition: Definition, old?: string): 'empty' | 'letters' | 'reserved' | 'taken' | null {
  if (!name.trim()) return 'empty'
  if (!NAME.test(name)) return 'letters'
  if (isReserved(name)) return 'reserved'
  return name !== old && definition.steps[name] ? 'taken' : null
}

/** Why an event from outside cannot have a name, or null; with `old` it is another name for that event everywhere. */
export function whyNotEvent(name: string, definition: Definition, old?: string): 'empty' | 'letters' | 'reserved' | 'step' | 'taken' | null {
  const why = whyNotName(name, { ...definition, steps: {} })
  if (why || name === old) return why
  if (Object.keys(definition.steps).some((step) => name === step || name.startsWith(`${step}.`))) return 'step'
  return (old === undefined ? externalsOf(definition) : eventsOf(definition)).includes(name) ? 'taken' : null
}

/** A name that no step has yet. */
export function freeName(wish: string, definition: Definition): string {
  const plain = wish.replace(/[^\p{L}\p{N} _.\-/()]/gu, ' ').trim().slice(0, 120) || 'step'
  const base = isReserved(plain) ? `${plain} step` : plain
  if (!definition.steps[base]) return base
  for (let n = 2; ; n++) if (!definition.steps[`${base} ${n}`]) return `${base} ${n}`
}

const mapSteps = (definition: Definition, change: (step: Step, name: string) => Step): Definition => ({
  ...definition,
  steps: Object.fromEntries(Object.entries(definition.steps).map(([name, step]) => [name, change(step, name)])),
})

export const place =
  (id: string, at: Point): Edit =>
  (definition) => ({ ...definition, view: { ...definition.view, positions: { ...definition.view?.positions, [id]: [Math.round(at[0]), Math.round(at[1])] } } })

export const placeAll =
  (places: Iterable<[string, Point]>): Edit =>
  (definition) => ({
    ...definition,
    view: { ...definition.view, positions: { ...definition.view?.positions, ...Object.fromEntries([...places].map(([id, at]) => [id, [Math.round(at[0]), Math.round(at[1])]])) } },
  })

/** Boxes without a place of their own keep the one where they are seen: else what is put beside them would move them. Where no step had one, START and the ends stay too. */
export const standing =
  (seen: ReadonlyMap<string, Point>): Edit =>
  (definition) => {
    const kept = definition.view?.positions ?? {}
    const laidOut = !Object.keys(definition.steps).some((name) => kept[name])
    const stays = (id: string) => !kept[id] && (definition.steps[id] !== undefined || (laidOut && id.startsWith('@') && !id.startsWith('@unused') && !id.startsWith('@unfired')))
    const places = [...seen].filter(([id]) => stays(id))
    return places.length > 0 ? placeAll(places)(definition) : definition
  }

export const addStep =
  (name: string, step: Step, at?: Point): Edit =>
  (definition) => {
    const added = { ...definition, steps: { ...definition.steps, [name]: inOrder(step) } }
    return at ? place(name, at)(added) : added
  }

/** Changes keys of a step; undefined takes a key away. */
export const setStep =
  (name: string, changes: Partial<Step>): Edit =>
  (definition) => {
    const step = definition.steps[name]
    return step ? { ...definition, steps: { ...definition.steps, [name]: inOrder({ ...step, ...changes }) } } : definition
  }

export const setSlots = (name: string, slots: Slot[]): Edit => setStep(name, { after: afterOf(slots) })

export const setEmits =
  (name: string, emits: Record<string, string[]>): Edit =>
  (definition) => {
    const step = definition.steps[name]
    return step ? { ...definition, steps: { ...definition.steps, [name]: writeEmits(step, emits) } } : definition
  }

/** Changes keys at the top; undefined takes one away. */
export const setTop =
  (changes: Partial<Definition>): Edit =>
  (definition) => {
    const made = { ...definition, ...changes }
    return Object.fromEntries(Object.entries(made).filter(([, value]) => value !== undefined)) as Definition
  }

/** How a step waits: for all of its events, for either, or for some of them. */
export function modeOf(slots: Slot[]): 'all' | 'either' | 'some' {
  const single = slots.length === 1 ? slots[0] : undefined
  return single?.kind === 'either' ? 'either' : single?.kind === 'some' ? 'some' : 'all'
}

export const setMode =
  (name: string, mode: 'all' | 'either' | 'some', need = 1): Edit =>
  (definition) => {
    const step = definition.steps[name]
    if (!step) return definition
    const before = slotsOf(step)
    const events = [...new Set(before.flatMap((slot) => slot.events))]
    const rest = before.find((slot) => slot.rest)?.rest
    const slots: Slot[] =
      mode === 'all' ? events.map((event) => ({ events: [event], need: 1, kind: 'one' })) : [{ events, need: mode === 'some' ? Math.max(1, Math.min(Math.trunc(need), events.length)) : 1, kind: mode === 'some' ? 'some' : events.length > 1 ? 'either' : 'one', ...(mode === 'some' && rest ? { rest } : {}) }]
    return setSlots(name, slots)(definition)
  }

/** Lets a step wait for one more event: with the others, or instead of those of a slot. START gives way: it was there for want of another. */
export const waitFor =
  (name: string, event: string, how: 'all' | { slot: number } = 'all'): Edit =>
  (definition) => {
    const step = definition.steps[name]
    if (!step) return definition
    const written = step.after === undefined ? [] : slotsOf(step)
    if (written.some((slot) => slot.events.includes(event))) return definition
    if (how === 'all' || !written[how.slot]) return setSlots(name, [...written, { events: [event], need: 1, kind: 'one' }])(definition)
    const shared = (slot: Slot): Slot => ({ ...slot, events: [...slot.events, event], kind: slot.kind === 'some' ? 'some' : 'either' })
    return setSlots(name, written.map((slot, at) => (at === how.slot ? shared(slot) : slot)))(definition)
  }

export const waitNoMore =
  (name: string, event: string): Edit =>
  (definition) => {
    const step = definition.steps[name]
    if (!step) return definition
    const slots = slotsOf(step)
      .map((slot): Slot => {
        const events = slot.events.filter((each) => each !== event)
        return { ...slot, events, kind: slot.kind === 'either' && events.length < 2 ? 'one' : slot.kind, need: Math.min(slot.need, Math.max(1, events.length)) }
      })
      .filter((slot) => slot.events.length > 0)
    return setSlots(name, slots)(definition)
  }

export const fire =
  (name: string, port: string, event: string): Edit =>
  (definition) => {
    const step = definition.steps[name]
    if (!step) return definition
    const emits = emitsOf(step)
    return setEmits(name, { ...emits, [port]: [...new Set([...(emits[port] ?? []), event])] })(definition)
  }

export const fireNoMore =
  (name: string, port: string, event: string): Edit =>
  (definition) => {
    const step = definition.steps[name]
    if (!step) return definition
    const emits = emitsOf(step)
    return setEmits(name, { ...emits, [port]: (emits[port] ?? []).filter((each) => each !== event) })(definition)
  }

export const addExternal =
  (name: string): Edit =>
  (definition) => ((definition.external ?? []).some((each) => externalName(each) === name) ? definition : keyOrder({ ...definition, external: [...(definition.external ?? []), name] }))

export const removeExternal =
  (name: string): Edit =>
  (definition) => {
    const left = (definition.external ?? []).filter((each) => externalName(each) !== name)
    return setTop({ external: left.length > 0 ? left : undefined })(definition)
  }

/** The same event under another name, wherever it is fired, waited for, let in or spoken of in an expression; and in how many places that is. */
export function renameEvent(definition: Definition, from: string, to: string): { definition: Definition; places: number } {
  let places = 0
  const renamed = (event: string): string => {
    if (event !== from) return event
    places++
    return to
  }
  const changed = mapSteps(definition, (step) => {
    const before = places
    const slots = step.after === undefined ? null : slotsOf(step).map((slot) => ({ ...slot, events: slot.events.map(renamed) }))
    const emits = Object.fromEntries(Object.entries(emitsOf(step)).map(([port, events]) => [port, [...new Set(events.map(renamed))]]))
    if (places === before) return step
    return writeEmits({ ...step, ...(slots ? { after: afterOf(slots) } : {}) }, emits)
  })
  const external = definition.external?.map((each) => (typeof each === 'string' ? renamed(each) : { ...each, name: renamed(each.name) }))
  const said = renameInExpressions(external ? { ...changed, external } : changed, 'events', from, to)
  return { definition: said.definition, places: places + said.places }
}

/** Its name, and what its ports are waited for by, whether or not a worker is there that says which ports it has. */
function ownEvents(definition: Definition, name: string): string[] {
  const longer = Object.keys(definition.steps).filter((step) => step.startsWith(`${name}.`))
  const others = [...externalsOf(definition), ...Object.values(definition.steps).flatMap((step) => Object.values(emitsOf(step)).flat())]
  return [name, ...eventsOf(definition).filter((event) => event.startsWith(`${name}.`) && !others.includes(event) && !longer.some((step) => event === step || event.startsWith(`${step}.`)))]
}

/** A step under another name: those that wait for it by its name wait for the new one. */
export function renameStep(definition: Definition, from: string, to: string): Definition {
  if (from === to || !definition.steps[from]) return definition
  const steps = Object.fromEntries(Object.entries(definition.steps).map(([name, step]) => [name === from ? to : name, step]))
  let made: Definition = { ...definition, steps }
  for (const event of ownEvents(definition, from)) made = renameEvent(made, event, to + event.slice(from.length)).definition
  made = renameInExpressions(made, 'steps', from, to).definition
  made = mapSteps(made, (step) => (Array.isArray(step.cancels) && step.cancels.includes(from) ? { ...step, cancels: step.cancels.map((each: unknown) => (each === from ? to : each)) } : step))
  const positions = definition.view?.positions
  if (positions?.[from]) {
    const { [from]: at, ...rest } = positions
    made = { ...made, view: { ...made.view, positions: { ...rest, [to]: at as Point } } }
  }
  const groups = made.view?.groups
  if (groups) made = { ...made, view: { ...made.view, groups: Object.fromEntries(Object.entries(groups).map(([id, group]) => [id, { ...group, steps: group.steps.map((each) => (each === from ? to : each)) }])) } }
  return made
}

/** A case of a switch under another name: its port fires what it fired, and who waited for it waits on. */
export const renameCase =
  (name: string, from: string, to: string): Edit =>
  (definition) => {
    const step = definition.steps[name]
    const cases = step?.with?.cases as Record<string, unknown> | undefined
    if (!step || !cases || !(from in cases) || to in cases) return definition
    const renamed = Object.fromEntries(Object.entries(cases).map(([port, each]) => [port === from ? to : port, each]))
    const emits = Object.fromEntries(Object.entries(emitsOf(step)).map(([port, events]) => [port === from ? to : port, events]))
    const made = writeEmits({ ...step, with: { ...step.with, cases: renamed } }, emits)
    return renameEvent({ ...definition, steps: { ...definition.steps, [name]: made } }, `${name}.${from}`, `${name}.${to}`).definition
  }

/** A switch without one of its cases: that port fires nothing any more, for there is no such port. */
export const removeCase =
  (name: string, port: string): Edit =>
  (definition) => {
    const step = definition.steps[name]
    const { [port]: gone, ...cases } = (step?.with?.cases ?? {}) as Record<string, unknown>
    if (!step || gone === undefined) return definition
    const { [port]: _events, ...emits } = emitsOf(step)
    return { ...definition, steps: { ...definition.steps, [name]: writeEmits({ ...step, with: { ...step.with, cases } }, emits) } }
  }

export const removeSteps =
  (names: string[]): Edit =>
  (definition) => {
    const gone = new Set(names)
    const positions = Object.fromEntries(Object.entries(definition.view?.positions ?? {}).filter(([id]) => !gone.has(id)))
    const steps = Object.fromEntries(Object.entries(definition.steps).filter(([name]) => !gone.has(name)))
    const left = Object.entries(definition.view?.groups ?? {}).flatMap(([id, group]): [string, Group][] => {
      const stay = group.steps.filter((step) => !gone.has(step))
      return stay.length === group.steps.length ? [[id, group]] : stay.length > 0 ? [[id, { ...group, steps: stay }]] : []
    })
    return { ...definition, steps, ...(definition.view ? { view: { ...definition.view, positions, ...(definition.view.groups ? { groups: Object.fromEntries(left) } : {}) } } : {}) }
  }

/** What is copied: steps with their places, notes, groups and what they are let in by, as text that people can read and other tabs can take. */
export interface Clip {
  penstock: 1
  external?: External[]
  steps: Record<string, Step>
  view: { positions: Record<string, Point>; notes?: Record<string, Note>; groups?: Record<string, Group> }
}

/** `also`: the ids of notes and groups that are copied too; a group goes along where all of its steps do. */
export function copySteps(definition: Definition, names: string[], places: ReadonlyMap<string, Point>, also: string[] = []): Clip {
  const steps = Object.fromEntries(names.filter((name) => definition.steps[name]).map((name) => [name, definition.steps[name] as Step]))
  const positions = Object.fromEntries(Object.keys(steps).flatMap((name) => (places.has(name) ? [[name, places.get(name) as Point]] : [])))
  const waited = new Set(Object.values(steps).flatMap((step) => slotsOf(step).flatMap((slot) => slot.events)))
  const external = (definition.external ?? []).filter((each) => waited.has(externalName(each)))
  const some = <T>(all: Record<string, T> | undefined, take: (id: string, each: T) => boolean) => Object.fromEntries(Object.entries(all ?? {}).filter(([id, each]) => take(id, each)))
  const notes = some(definition.view?.notes, (id) => also.includes(`note:${id}`))
  const groups = some(definition.view?.groups, (id, group) => also.includes(`group:${id}`) || (group.steps.length > 0 && group.steps.every((step) => names.includes(step))))
  const filled = (all: object) => Object.keys(all).length > 0
  return { penstock: 1, ...(external.length > 0 ? { external } : {}), steps, view: { positions, ...(filled(notes) ? { notes } : {}), ...(filled(groups) ? { groups } : {}) } }
}

/** What is in a text that was copied, or null where it is something else. */
export function readClip(text: string): Clip | null {
  try {
    const found = JSON.parse(text) as Partial<Clip>
    if (!found || typeof found !== 'object' || !found.steps || typeof found.steps !== 'object') return null
    if (!Object.values(found.steps).every((step) => step !== null && typeof step === 'object' && !Array.isArray(step))) return null
    const external = Array.isArray(found.external) ? found.external.filter((each) => typeof each === 'string' || typeof each?.name === 'string') : []
    return { penstock: 1, ...(external.length > 0 ? { external } : {}), steps: found.steps, view: { ...found.view, positions: found.view?.positions ?? {} } }
  } catch {
    return null
  }
}

/** Puts steps in; those whose name is taken get another, also where they wait for each other. */
export function paste(definition: Definition, clip: Clip, by: Point): { definition: Definition; names: string[] } {
  let made = definition
  let piece: Definition = { penstock: 1, name: definition.name, steps: clip.steps, view: { positions: clip.view.positions, ...(clip.view.groups ? { groups: clip.view.groups } : {}) } }
  const names: string[] = []
  for (const name of Object.keys(clip.steps)) {
    const free = freeName(name, { ...made, steps: { ...made.steps, ...Object.fromEntries(names.map((each) => [each, {}])) } })
    if (free !== name) piece = renameStep(piece, name, free)
    names.push(free)
  }
  for (const name of names) {
    const at = piece.view?.positions?.[name]
    made = addStep(name, piece.steps[name] as Step, at ? [at[0] + by[0], at[1] + by[1]] : undefined)(made)
  }
  return { definition: pasteAround(made, clip, piece.view?.groups ?? {}, by), names }
}

/** What goes with pasted steps: notes and groups as new ones, and events that are not let in yet. */
function pasteAround(definition: Definition, clip: Clip, groups: Record<string, Group>, by: Point): Definition {
  let made = definition
  const fresh = (id: string, taken: object | undefined): string => (taken && id in taken ? fresh(`${id}-2`, taken) : id)
  for (const [id, note] of Object.entries(clip.view.notes ?? {})) made = setNote(fresh(id, made.view?.notes), { ...note, at: [note.at[0] + by[0], note.at[1] + by[1]] })(made)
  for (const [id, group] of Object.entries(groups)) made = setGroup(fresh(id, made.view?.groups), group)(made)
  const come = (clip.external ?? []).filter((each) => !externalsOf(made).includes(externalName(each)))
  return come.length > 0 ? keyOrder({ ...made, external: [...(made.external ?? []), ...come] }) : made
}

export interface Wish {
  definition: Definition
  offers: Offers
}

export const setNote =
  (id: string, note: Note | null): Edit =>
  (definition) => ({ ...definition, view: { ...definition.view, notes: without(definition.view?.notes, id, note) } })

export const setGroup =
  (id: string, group: Group | null): Edit =>
  (definition) => ({ ...definition, view: { ...definition.view, groups: without(definition.view?.groups, id, group) } })

function without<T>(all: Record<string, T> | undefined, id: string, value: T | null): Record<string, T> {
  const { [id]: _old, ...rest } = all ?? {}
  return value === null ? rest : { ...rest, [id]: value }
}
