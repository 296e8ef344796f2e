/** Data that is kept for trying: what a run begins with, what its steps come to, which events come. */
import { create } from 'zustand'
import { at, get, query } from '@/api/client'
import type { Page, Run, RunLine } from '@/api/types'
import type { Definition } from '@/diagram/definition'
import { t } from '@/messages'
import { toast } from '@/ui/toasts'
import { type Schema, sampleOf } from '../inspector/schema'

/** What a step comes to in a try: a port and an output, or an error. */
export interface Stub {
  port?: string
  output?: unknown
  error?: string
}
/** An event from outside: whether it comes in a try, and with which data. */
export interface PinnedEvent {
  off?: boolean
  data?: unknown
}
export interface Pinned {
  from: 'run' | 'example' | 'own'
  /** The run that it was taken from. */
  run?: string
  input: unknown
  data?: unknown
  tags?: unknown
  stubs: Record<string, Stub>
  events: Record<string, PinnedEvent>
}

interface State {
  workflow: string
  pinned: Pinned
  /** The run that was tried last, for values on a sample. */
  tried: Run | null
}

const BARE: Pinned = { from: 'example', input: {}, stubs: {}, events: {} }
export const usePinned = create<State>(() => ({ workflow: '', pinned: BARE, tried: null }))

const key = (workflow: string) => `penstock.pinned.${workflow}`

export function pin(changes: Partial<Pinned>): void {
  const { workflow, pinned } = usePinned.getState()
  const next = { ...pinned, ...changes }
  usePinned.setState({ pinned: next })
  try {
    localStorage.setItem(key(workflow), JSON.stringify(next))
  } catch {
    // a full store keeps nothing, and the page still works
  }
}

export const pinStub = (step: string, stub: Stub | null): void => {
  const { [step]: _old, ...rest } = usePinned.getState().pinned.stubs
  pin({ stubs: stub === null ? rest : { ...rest, [step]: stub } })
}

export const pinEvent = (event: string, changes: PinnedEvent): void => {
  const { events } = usePinned.getState().pinned
  pin({ events: { ...events, [event]: { ...events[event], ...changes } } })
}

function kept(workflow: string): Pinned | null {
  try {
    const found = JSON.parse(localStorage.getItem(key(workflow)) ?? 'null') as Partial<Pinned> | null
    return found && typeof found === 'object' ? { ...BARE, ...found } : null
  } catch {
    return null
  }
}

export const exampleOf = (definition: Definition): unknown => sampleOf(definition.params as Schema | undefined)

/** What is pinned for a workflow; else its last run, else the example of its input. */
export async function loadPinned(workflow: string, definition: Definition, hasRuns: boolean): Promise<void> {
  if (usePinned.getState().workflow === workflow) return
  const found = kept(workflow)
  usePinned.setState({ workflow, tried: null, pinned: found ?? { ...BARE, input: exampleOf(definition) } })
  if (!found && hasRuns) await pinLastRun()
}

/** Takes the last real run as the sample; false where there is none. */
export async function pinLastRun(): Promise<boolean> {
  const { workflow } = usePinned.getState()
  try {
    const runs = await get<Page<RunLine>>(`/api/runs${query({ workflow, limit: 1 })}`)
    const first = runs.items[0]
    if (!first || usePinned.getState().workflow !== workflow) return false
    pinRun(await get<Run>(at`/api/runs/${first.id}`))
    return true
  } catch {
    return false
  }
}

/** The same for who asked for it: that there is none is said. */
export async function takeLastRun(): Promise<void> {
  if (!(await pinLastRun())) toast({ kind: 'warn', title: t('trying.noRun') })
}

export function pinRun(run: Run): void {
  const stubs = Object.entries(run.steps).flatMap(([name, step]): [string, Stub][] => (step.status === 'complete' && step.port ? [[name, { port: step.port, output: step.output }]] : []))
  pin({ from: 'run', run: run.id, input: run.input, data: run.data, tags: run.tags, stubs: Object.fromEntries(stubs) })
}

/** What expressions see of the sample. */
export function scopeOf({ pinned, tried, workflow }: State): Record<string, unknown> {
  const outputs = tried
    ? Object.entries(tried.steps).filter(([, step]) => step.firings > 0).map(([name, step]): [string, unknown] => [name, { output: step.output ?? null }])
    : Object.entries(pinned.stubs).filter(([, stub]) => stub.error === undefined).map(([name, stub]): [string, unknown] => [name, { output: stub.output ?? null }])
  const events = Object.fromEntries(Object.entries(pinned.events).map(([event, each]) => [event, each.data ?? null]))
  return {
    data: tried?.data ?? pinned.data ?? pinned.input ?? {},
    tags: tried?.tags ?? pinned.tags ?? {},
    run: { id: tried?.id ?? pinned.run ?? 'sample', workflow, version: 1, subject: tried?.subject ?? null },
    steps: Object.fromEntries(outputs),
    event: { name: 'START', data: pinned.input ?? null, id: '1', at: '2026-01-01T00:00:00Z' },
    events: { START: pinned.input ?? null, ...events },
  }
}
