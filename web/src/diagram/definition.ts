/** A definition as the API gives it, and what its short forms mean: slots, ports, fired events. */

export type After = string | AfterSlot[] | SomeOf
export type AfterSlot = string | SomeOf
export interface SomeOf {
  need: number
  of: string[]
  rest?: 'keep' | 'drop'
}
export type Events = string | string[]

export interface Step {
  task?: string
  title?: string
  after?: After
  emits?: Events | Record<string, Events>
  fails?: Events
  with?: Record<string, unknown>
  disabled?: boolean | string
  [key: string]: unknown
}

export type External = string | { name: string; many?: boolean; optional?: boolean; [key: string]: unknown }

export type Point = [number, number]
export interface Group {
  title: string
  steps: string[]
  /** Drawn as one box. */
  folded?: boolean
}
export interface Note {
  text: string
  at: Point
  size?: Point
}
export interface View {
  positions?: Record<string, Point>
  groups?: Record<string, Group>
  notes?: Record<string, Note>
  [key: string]: unknown
}

export interface Definition {
  penstock: number
  name: string
  title?: string
  description?: string
  external?: External[]
  steps: Record<string, Step>
  view?: View
  [key: string]: unknown
}

/** What a task offers; the palette of the server has the same. */
export interface Offer {
  name: string
  title: string
  doc: string
  kind: string
  ports: string[]
  task_list?: string | null
  parameters?: Record<string, unknown>
}
export type Offers = Record<string, Offer>

export const RESERVED = ['START', 'OK', 'FAIL', 'CANCEL', 'TIMEOUT'] as const
export const ENDS = ['OK', 'FAIL', 'CANCEL'] as const
export const isReserved = (name: string): boolean => (RESERVED as readonly string[]).includes(name)

const BUILT_IN: Record<string, string[]> = {
  approval: ['approved', 'rejected', 'failed'],
  decide: ['then', 'else', 'failed'],
  emit: ['done'],
  fail: [],
  terminate: [],
  wait: ['done'],
  service: ['done', 'failed', 'canceled'],
}

/** One input of a step: `need` of its `events` fill it. */
export interface Slot {
  events: string[]
  need: number
  kind: 'one' | 'either' | 'some'
  /** What becomes of events of a "some" that come after it was filled, where that is said. */
  rest?: 'keep' | 'drop'
}

const list = (events: Events | undefined | null): string[] => (events == null ? [] : Array.isArray(events) ? events : [events])

function slotOf(written: AfterSlot): Slot {
  if (typeof written !== 'string') return { events: list(written.of), need: written.need, kind: 'some', ...(written.rest ? { rest: written.rest } : {}) }
  const events = written.split('|').map((each) => each.trim()).filter(Boolean)
  return { events, need: 1, kind: events.length > 1 ? 'either' : 'one' }
}

/** The slots of a step; one that waits for nothing waits for START. */
export function slotsOf(step: Step): Slot[] {
  const after = step.after
  const written = after == null ? [] : Array.isArray(after) ? after : [after]
  return written.length === 0 ? [{ events: ['START'], need: 1, kind: 'one' }] : written.map(slotOf)
}

/** Whether a step begins as soon as a run does: START alone is enough for it. */
export function startsAtOnce(step: Step): boolean {
  const [slot, ...others] = slotsOf(step)
  return others.length === 0 && slot !== undefined && slot.need === 1 && slot.events.includes('START')
}

/** The shortest way to write slots down. */
export function afterOf(slots: Slot[]): After | undefined {
  const written = slots
    .filter((slot) => slot.events.length > 0)
    .map((slot): AfterSlot => (slot.kind === 'some' ? { need: Math.min(slot.need, slot.events.length), of: slot.events, ...(slot.rest ? { rest: slot.rest } : {}) } : slot.events.join(' | ')))
  if (written.length === 0) return undefined
  return written.length === 1 ? (written[0] as After) : written
}

/** What a step lists for each port. */
export function emitsOf(step: Step): Record<string, string[]> {
  const emits = step.emits
  const found: Record<string, string[]> = {}
  if (emits != null && typeof emits === 'object' && !Array.isArray(emits)) {
    for (const [port, events] of Object.entries(emits)) found[port] = list(events)
  } else if (list(emits as Events | undefined).length > 0) {
    found.done = list(emits as Events)
  }
  if (list(step.fails).length > 0) found.failed = [...new Set([...(found.failed ?? []), ...list(step.fails)])]
  return found
}

/** The shortest way to write down what each port fires. */
export function writeEmits(step: Step, emits: Record<string, string[]>): Step {
  const { emits: _emits, fails: _fails, ...rest } = step
  const short = (events: string[]): Events => (events.length === 1 ? (events[0] as string) : events)
  const others = Object.entries(emits).filter(([port, events]) => port !== 'failed' && events.length > 0)
  const made: Step = { ...rest }
  if (others.length === 1 && others[0]?.[0] === 'done') made.emits = short(others[0][1])
  else if (others.length > 0) made.emits = Object.fromEntries(others.map(([port, events]) => [port, short(events)]))
  if (emits.failed && emits.failed.length > 0) made.fails = short(emits.failed)
  return inOrder(made)
}

const ORDER = ['title', 'task', 'after', 'emits', 'fails', 'with']

/** A step with its keys in the order in which people read them. */
export function inOrder(step: Step): Step {
  const keys = [...ORDER.filter((key) => step[key] !== undefined), ...Object.keys(step).filter((key) => !ORDER.includes(key) && step[key] !== undefined)]
  return Object.fromEntries(keys.map((key) => [key, step[key]]))
}

/** The exits of a step: those that its task offers, else those that it names. `failed` is the last. */
export function portsOf(step: Step, offers: Offers = {}): string[] {
  const task = step.task ?? ''
  const named = Object.keys(emitsOf(step))
  const offered = offers[task]?.ports ?? BUILT_IN[task]
  let ports: string[]
  if (task === 'switch') {
    const cases = step.with?.cases
    ports = [...(cases && typeof cases === 'object' ? Object.keys(cases) : []), 'else', 'failed']
  } else if (offered) ports = offered
  else {
    const isMap = step.emits != null && typeof step.emits === 'object' && !Array.isArray(step.emits)
    ports = isMap ? named : ['done', ...named]
    ports = [...ports, 'failed']
  }
  const all = [...new Set([...ports, ...named])]
  return [...all.filter((port) => port !== 'failed'), ...(all.includes('failed') ? ['failed'] : [])]
}

/** Every event that is fired when a step ends on a port: those listed, `<step>.<port>`, and on `done` its name (R3). */
export function firedBy(name: string, step: Step, port: string): string[] {
  return [...new Set([...(emitsOf(step)[port] ?? []), `${name}.${port}`, ...(port === 'done' ? [name] : [])])]
}

export const externalName = (external: External): string => (typeof external === 'string' ? external : external.name)
export const externalsOf = (definition: Definition): string[] => (definition.external ?? []).map(externalName)
export const titleOf = (name: string, step: Step | undefined): string => step?.title || name

/** Every event that somebody fires, waits for, or that comes from outside. */
export function eventsOf(definition: Definition): string[] {
  const found = new Set<string>(externalsOf(definition))
  for (const step of Object.values(definition.steps)) {
    for (const events of Object.values(emitsOf(step))) for (const event of events) found.add(event)
    for (const slot of slotsOf(step)) for (const event of slot.events) found.add(event)
  }
  return [...found]
}
