/** What would mend a finding: each fix is one edit, offered as a button. */
import type { Finding } from '@/api/types'
import { type Definition, type Offers, type Slot, emitsOf, externalsOf, isReserved, portsOf, slotsOf } from '@/diagram/definition'
import { type Edit, addExternal, fire, fireNoMore, setMode, setSlots, setTop, waitNoMore } from '../document'

export interface Fix {
  id: 'external' | 'port' | 'instead' | 'handle' | 'either' | 'waitNoMore' | 'fireNoMore' | 'endless' | 'ok' | 'drop'
  values: Record<string, string>
  edit: Edit
}

/** Who fires an event, and on which port. */
export function firersOf(definition: Definition, event: string): { step: string; port: string }[] {
  return Object.entries(definition.steps).flatMap(([step, each]) => Object.entries(emitsOf(each)).filter(([, events]) => events.includes(event)).map(([port]) => ({ step, port })))
}

/** Events that steps fire when they fail, the most used first, without those that end the run. */
export function failureEvents(definition: Definition): string[] {
  const counts = new Map<string, number>()
  for (const step of Object.values(definition.steps)) for (const event of emitsOf(step).failed ?? []) if (!isReserved(event)) counts.set(event, (counts.get(event) ?? 0) + 1)
  return [...counts].sort((one, two) => two[1] - one[1]).map(([event]) => event)
}

const eventsOfStep = (definition: Definition, name: string): string[] => slotsOf(definition.steps[name] ?? {}).flatMap((slot) => slot.events)
const isWaitedFor = (definition: Definition, event: string): boolean => Object.keys(definition.steps).some((name) => eventsOfStep(definition, name).includes(event))
const isFired = (definition: Definition, event: string, offers: Offers): boolean =>
  isReserved(event) || externalsOf(definition).includes(event) || firersOf(definition, event).length > 0 || Object.entries(definition.steps).some(([name, step]) => portsOf(step, offers).some((port) => event === `${name}.${port}` || (port === 'done' && event === name)))

/** Takes an event, START where none is named, out of what a step waits for and puts another in its place. */
export const waitInstead =
  (name: string, event: string, old = 'START'): Edit =>
  (definition) => {
    const step = definition.steps[name]
    if (!step) return definition
    const slots = slotsOf(step).map((slot): Slot => ({ ...slot, events: [...new Set(slot.events.map((each) => (each === old ? event : each)))] }))
    return setSlots(name, slots.map((slot) => ({ ...slot, kind: slot.kind === 'either' && slot.events.length < 2 ? 'one' : slot.kind })))(definition)
  }

/** Nobody fires an event any more. */
export const dropEvent =
  (event: string): Edit =>
  (definition) =>
    firersOf(definition, event).reduce((made, { step, port }) => fireNoMore(step, port, event)(made), definition)

type Maker = (finding: Finding, definition: Definition, offers: Offers) => Fix[]

/** The step that an event speaks of by its name, or by its name and a port that it has not. */
const spokenOf = (definition: Definition, event: string): string | undefined => Object.keys(definition.steps).find((name) => event === name || event.startsWith(`${name}.`))

function missing({ step, event }: Finding, definition: Definition, offers: Offers): Fix[] {
  if (!event || isReserved(event)) return []
  const of = spokenOf(definition, event)
  const ports = of === undefined ? [] : portsOf(definition.steps[of] ?? {}, offers).filter((port) => port !== 'failed')
  const fixes: Fix[] = of === undefined ? [{ id: 'external', values: { event }, edit: addExternal(event) }] : step ? ports.map((port) => ({ id: 'port', values: { event: `${of}.${port}` }, edit: waitInstead(step, `${of}.${port}`, event) })) : []
  if (step && eventsOfStep(definition, step).length > 1) fixes.push({ id: 'waitNoMore', values: { event, step }, edit: waitNoMore(step, event) })
  return fixes
}

function dead(finding: Finding, definition: Definition, offers: Offers): Fix[] {
  if (!finding.step) return []
  const absent = eventsOfStep(definition, finding.step).filter((event) => !isFired(definition, event, offers))
  return absent.flatMap((event) => missing({ ...finding, event }, definition, offers)).slice(0, 2)
}

function failing({ step }: Finding, definition: Definition): Fix[] {
  if (!step) return []
  const fixes: Fix[] = []
  if (eventsOfStep(definition, step).includes('START')) {
    const event = failureEvents(definition).find((each) => !eventsOfStep(definition, step).includes(each))
    if (event) fixes.push({ id: 'instead', values: { event, step }, edit: waitInstead(step, event) })
  }
  const ports = Object.entries(emitsOf(definition.steps[step] ?? {})).filter(([port, events]) => port !== 'failed' && events.includes('FAIL'))
  if (fixes.length === 0) for (const [port] of ports) fixes.push({ id: 'ok', values: { step, port }, edit: (each) => fire(step, port, 'OK')(fireNoMore(step, port, 'FAIL')(each)) })
  return fixes
}

/** A failure on the way to a standstill is handled like the others are; a join of two branches takes either. */
function stuck({ step, trace }: Finding, definition: Definition): Fix[] {
  const fixes: Fix[] = []
  const handled = failureEvents(definition).find((event) => isWaitedFor(definition, event)) ?? 'FAIL'
  for (const item of trace) {
    const failed = item.fire
    if (!failed || item.port !== 'failed' || (emitsOf(definition.steps[failed] ?? {}).failed ?? []).includes(handled)) continue
    fixes.push({ id: 'handle', values: { step: failed, event: handled }, edit: fire(failed, 'failed', handled) })
    break
  }
  if (step && slotsOf(definition.steps[step] ?? {}).length > 1) fixes.push({ id: 'either', values: { step }, edit: setMode(step, 'either') })
  const last = trace.at(-1)
  if (!step && last?.fire && last.port) fixes.push({ id: 'ok', values: { step: last.fire, port: last.port }, edit: fire(last.fire, last.port, 'OK') })
  return fixes
}

function unhandled({ step, event }: Finding, definition: Definition, offers: Offers): Fix[] {
  const port = portsOf(definition.steps[step ?? ''] ?? {}, offers).find((each) => event === `${step}.${each}`)
  return step && port ? [{ id: 'ok', values: { step, port }, edit: fire(step, port, 'OK') }] : []
}

const MAKERS: Record<string, Maker> = {
  'missing-event': missing,
  'dead-step': dead,
  'fail-without-failure': failing,
  deadlock: stuck,
  'no-end': () => [{ id: 'endless', values: {}, edit: setTop({ endless: true }) }],
  'fires-twice': () => [],
  'unhandled-port': unhandled,
  'unused-event': ({ event }) => (event ? [{ id: 'drop', values: { event }, edit: dropEvent(event) }] : []),
}

export const fixesFor = (finding: Finding, definition: Definition, offers: Offers = {}): Fix[] => MAKERS[finding.code]?.(finding, definition, offers) ?? []

/** Which part of the inspector a finding belongs to. */
export type Part = 'head' | 'waits' | 'settings' | 'wrong' | 'fires'
const PARTS: Record<string, Part> = {
  'missing-event': 'waits',
  'dead-step': 'waits',
  deadlock: 'waits',
  'fail-without-failure': 'waits',
  'fires-twice': 'waits',
  'failure-loop': 'waits',
  'leftover-events': 'waits',
  unbounded: 'waits',
  'missing-setting': 'settings',
  'unknown-setting': 'settings',
  'unknown-field': 'settings',
  'wrong-type': 'settings',
  'isolated-step': 'waits',
  'time-outs': 'wrong',
  'unused-event': 'fires',
  'unhandled-port': 'fires',
}
export const partOf = (finding: Finding): Part => PARTS[finding.code] ?? 'head'

const WEIGHT = { error: 0, warning: 1, info: 2 }

/** By severity, then by the place in the drawing. */
export function sorted(findings: readonly Finding[], definition: Definition): Finding[] {
  const positions = definition.view?.positions ?? {}
  const names = Object.keys(definition.steps)
  const place = ({ step }: Finding): [number, number] => {
    const at = step ? positions[step] : undefined
    return at ?? [0, step ? names.indexOf(step) : -1]
  }
  return findings
    .map((finding, index) => ({ finding, index, place: place(finding) }))
    .sort((one, two) => WEIGHT[one.finding.severity] - WEIGHT[two.finding.severity] || one.place[0] - two.place[0] || one.place[1] - two.place[1] || one.index - two.index)
    .map(({ finding }) => finding)
}
