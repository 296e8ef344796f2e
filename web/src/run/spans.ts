/** What a timeline shows, from a run's history: attempts, pauses between them, waiting at joins, waiting for outside. */
import type { Entry } from '@/api/types'

export type Outcome = 'ok' | 'failed' | 'timed_out' | 'running' | 'withdrawn'

export interface Bar {
  attempt: number
  from: number
  to: number | null
  outcome: Outcome
  said: string
}

export interface Wait {
  from: number
  to: number | null
  arrivals: number[]
}

export interface Row {
  kind: 'step' | 'outside'
  name: string
  bars: Bar[]
  /** Between two attempts, and until a worker has the one that is due. */
  pauses: { from: number; to: number | null }[]
  joins: Wait[]
  outside: { from: number; to: number | null } | null
  total: number | null
}

export interface Slotted {
  step: string
  takes: string[]
  need: number
}

/** Where a step stands just now, as the server says why it does not go on. */
export interface Standing {
  step: string
  reason: string
  since?: string
}

/** Reasons for which nobody works at an attempt. */
const IN_LINE = new Set(['queued', 'no worker', 'paused', 'serialized', 'backoff'])
/** The pause before the next attempt is in the history, to its end. */
const PAUSES = 'backoff'

interface Open {
  row: Row
  attempt: number
  since: number
}

interface Fault {
  error?: { kind?: string; message?: string }
  retry_at?: string | null
  index?: number | null
  consumed?: number[]
}

const time = (text: string) => Date.parse(text)

/** Rows in the order of the steps; each outside event before the first step that takes it. */
export function timeline(entries: Entry[], steps: string[], slots: Slotted[], externals: string[], now: readonly Standing[] = [], awaited: readonly string[] = []): Row[] {
  const fresh = (kind: Row['kind'], name: string): Row => ({ kind, name, bars: [], pauses: [], joins: [], outside: null, total: null })
  const rows = new Map(steps.map((step) => [step, fresh('step', step)]))
  const outside = new Map(externals.map((name) => [name, fresh('outside', name)]))
  const begun = entries[0] ? time(entries[0].at) : 0
  const open = new Map<number, Open>()
  const takers = takersOf(steps, slots)
  for (const entry of entries) {
    const then = time(entry.at)
    if (entry.kind === 'event' && entry.event) {
      const from = entry.step === null ? outside.get(entry.event) : undefined
      if (from && from.outside === null) from.outside = { from: begun, to: then }
      for (const step of takers.get(entry.event) ?? []) arrive(rows.get(step), then)
    } else if (entry.step) take(entry, rows.get(entry.step), then, open)
    if (entry.kind === 'run_ended') for (const row of rows.values()) close(row, then)
  }
  for (const name of awaited) stillOut(outside.get(name), begun)
  for (const each of open.values()) goOn(each, now.filter(({ step }) => step === each.row.name))
  return ordered(steps, slots, rows, outside, new Set([...open.values()].map(({ row }) => row)))
}

/** An event from outside that is waited for. */
function stillOut(row: Row | undefined, begun: number): void {
  if (row) row.outside ??= { from: begun, to: null }
}

/** An attempt that has not ended: it waits in a line until a worker has it, and only then it runs. */
function goOn({ row, attempt, since }: Open, now: Standing[]): void {
  const begun = now.flatMap((each) => (each.reason === 'running' && each.since ? [time(each.since)] : []))
  const waits = begun.length === 0 && now.some((each) => IN_LINE.has(each.reason))
  const from = Math.max(since, ...(begun.length > 0 ? [Math.min(...begun)] : []))
  const told = waits && now.every((each) => each.reason === PAUSES)
  if (!told && (waits || from > since)) row.pauses.push({ from: since, to: waits ? null : from })
  if (!waits) row.bars.push({ attempt, from, to: null, outcome: 'running', said: '' })
}

/** Which joins take an event. */
function takersOf(steps: string[], slots: Slotted[]): Map<string, string[]> {
  const joined = new Set(steps.filter((step) => slots.filter((slot) => slot.step === step).reduce((sum, slot) => sum + slot.need, 0) > 1))
  const takers = new Map<string, string[]>()
  for (const slot of slots) {
    if (!joined.has(slot.step)) continue
    for (const name of slot.takes) takers.set(name, [...(takers.get(name) ?? []), slot.step])
  }
  return takers
}

/** Events of one wait that are drawn. */
const ARRIVALS = 30

function arrive(row: Row | undefined, now: number): void {
  if (!row) return
  const last = row.joins.at(-1)
  if (last && last.to === null) {
    if (last.arrivals.length < ARRIVALS) last.arrivals.push(now)
  } else row.joins.push({ from: now, to: null, arrivals: [now] })
}

function close(row: Row, now: number): void {
  const last = row.joins.at(-1)
  if (last && last.to === null) last.to = now
}

function take(entry: Entry, row: Row | undefined, now: number, open: Map<number, Open>): void {
  if (!row) return
  if (entry.kind === 'fired') {
    close(row, now)
    open.set(entry.seq, { row, attempt: 1, since: now })
  }
  const firing = entry.firing === null ? undefined : open.get(entry.firing)
  if (!firing || entry.firing === null) return
  const said = (entry.data ?? {}) as Fault
  if (entry.kind === 'attempt' && said.index == null) open.set(entry.firing, tried(row, waited(row, firing, entry, now), said, now))
  if (entry.kind === 'ended' || entry.kind === 'withdrawn') {
    open.delete(entry.firing)
    const bar = lastBar(entry, row, waited(row, firing, entry, now), said, now)
    if (bar) row.bars.push(bar)
  }
}

/** An attempt that has ended, from when a worker had it; before that it waited in a line. */
function waited(row: Row, firing: Open, entry: Entry, now: number): Open {
  const begun = entry.started_at ? Math.min(time(entry.started_at), now) : firing.since
  if (begun <= firing.since) return firing
  row.pauses.push({ from: firing.since, to: begun })
  return { ...firing, since: begun }
}

/** An attempt that was not the last: its bar, the pause, and when the next begins. */
function tried(row: Row, firing: Open, said: Fault, now: number): Open {
  const late = said.error?.kind === 'timeout' || said.error?.kind === 'lost'
  row.bars.push({ attempt: firing.attempt, from: firing.since, to: now, outcome: late ? 'timed_out' : 'failed', said: said.error?.message ?? '' })
  const again = said.retry_at ? Math.max(now, time(said.retry_at)) : now
  if (again > now) row.pauses.push({ from: now, to: again })
  return { row, attempt: firing.attempt + 1, since: again }
}

function lastBar(entry: Entry, row: Row, firing: Open, said: Fault, now: number): Bar | null {
  const from = Math.min(firing.since, now)
  if (entry.kind === 'withdrawn') return { attempt: firing.attempt, from, to: now, outcome: 'withdrawn', said: '' }
  if (entry.port !== 'failed') return { attempt: entry.attempt ?? firing.attempt, from, to: now, outcome: 'ok', said: entry.port ?? '' }
  const before = row.bars.at(-1)
  // The entry of a last attempt and that of the end say the same failure.
  if (before && before.to === now && before.outcome !== 'ok' && firing.since >= now) return null
  return { attempt: entry.attempt ?? firing.attempt, from, to: now, outcome: 'failed', said: said.error?.message ?? '' }
}

function total(row: Row): number | null {
  const first = row.bars[0]
  const last = row.bars.at(-1)
  return first && last && last.to !== null ? last.to - first.from : null
}

/** `live`: those that go on have no length yet. */
function ordered(steps: string[], slots: Slotted[], rows: Map<string, Row>, outside: Map<string, Row>, live: ReadonlySet<Row>): Row[] {
  const found: Row[] = []
  const shown = new Set<string>()
  for (const step of steps) {
    for (const slot of slots.filter((each) => each.step === step))
      for (const name of slot.takes) {
        const row = outside.get(name)
        if (row?.outside && !shown.has(name)) {
          shown.add(name)
          found.push(row)
        }
      }
    const row = rows.get(step)
    if (row) found.push({ ...row, total: live.has(row) ? null : total(row) })
  }
  return found
}

/** The data of a run after an entry: its input, and all that was set on it until then. */
export function dataAt(entries: Entry[], seq: number): unknown {
  let data: unknown = {}
  for (const entry of entries) {
    if (entry.seq > seq) break
    if (entry.kind === 'event' && entry.event === 'START' && entry.step === null) data = entry.data ?? {}
    if (entry.kind === 'set') data = merged(data, entry.data)
  }
  return data
}

/** RFC 7396. */
export function merged(target: unknown, patch: unknown): unknown {
  if (patch === null || typeof patch !== 'object' || Array.isArray(patch)) return patch
  const out: Record<string, unknown> = target !== null && typeof target === 'object' && !Array.isArray(target) ? { ...(target as Record<string, unknown>) } : {}
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete out[name]
    else out[name] = merged(out[name], value)
  }
  return out
}
