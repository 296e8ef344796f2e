/** Tries: the draft runs in memory, and what came of it is drawn. */
import { create } from 'zustand'
import { ApiError, at, post } from '@/api/client'
import type { Entry, Tried } from '@/api/types'
import { type Definition, externalsOf } from '@/diagram/definition'
import type { StepLook } from '@/diagram/look'
import type { TraceItem } from '@/diagram/net'
import { t } from '@/messages'
import { useEditor } from '../store'
import { type Pinned, usePinned } from './sample'

/** How much of the workflow is tried: all, one step, up to a step, or from one on. */
export interface Extent {
  only?: string
  until?: string
  from?: string
}

export interface Attempted {
  id: number
  extent: Extent
  status: string
  at: number
}

interface Trying {
  busy: boolean
  tried: Tried | null
  /** The definition that was tried. */
  of: Definition | null
  error: string | null
  extent: Extent
  before: Attempted[]
  /** The workflow whose tasks do their work in tries; of no other one. */
  real: string | null
}

export const useTrying = create<Trying>(() => ({ busy: false, tried: null, of: null, error: null, extent: {}, before: [], real: null }))
let count = 0

/** What is sent: what is pinned, as far as the draft still has it. */
export function askedOf(definition: Definition, pinned: Pinned, { only, until, from }: Extent, real = false): Record<string, unknown> {
  const stubs = Object.entries(pinned.stubs)
    .filter(([step]) => definition.steps[step])
    .map(([step, stub]) => [step, stub.error !== undefined ? { error: stub.error } : { ...(stub.port ? { port: stub.port } : {}), output: stub.output ?? null }])
  const events = externalsOf(definition)
    .filter((event) => !pinned.events[event]?.off)
    .map((event) => ({ event, data: pinned.events[event]?.data ?? null }))
  const end = only ?? until
  const begin = only ?? from
  return { definition, input: pinned.input ?? {}, stubs: Object.fromEntries(stubs), events, ...(end ? { until: end } : {}), ...(begin ? { from: begin } : {}), ...(real ? { real } : {}) }
}

export async function tryNow(extent: Extent = {}): Promise<void> {
  const { definition, name } = useEditor.getState()
  const { pinned } = usePinned.getState()
  const real = useTrying.getState().real === name
  useTrying.setState({ busy: true, error: null, extent })
  try {
    const tried = await post<Tried>(at`/api/workflows/${name}/try`, askedOf(definition, pinned, extent, real))
    usePinned.setState({ tried: tried.run })
    useTrying.setState(({ before }) => ({ busy: false, tried, of: definition, before: [{ id: ++count, extent, status: tried.run.status, at: Date.now() }, ...before].slice(0, 20) }))
  } catch (error) {
    const detail = error instanceof ApiError ? [error.detail, ...error.errors.map((each) => each.message)].filter((each, index, all) => all.indexOf(each) === index).join(' ') : String(error)
    useTrying.setState({ busy: false, error: detail || t('error.away'), tried: null, of: null })
  }
}

export function clearTry(): void {
  usePinned.setState({ tried: null })
  useTrying.setState({ tried: null, of: null, error: null })
}

/** Opens the panel and tries at once. */
export const useTryFrom = () => (extent: Extent) => {
  useEditor.setState({ panel: 'try' })
  void tryNow(extent)
}

/** The states of the steps for the drawing, as long as it is still the one that was tried. */
export function looksNow({ tried, of }: Trying, definition: Definition): Record<string, StepLook> | undefined {
  if (!tried || of?.steps !== definition.steps) return undefined
  return Object.fromEntries(Object.entries(tried.run.steps).map(([name, step]) => [name, { status: step.status, attempts: step.attempts, firings: step.firings }]))
}

/** A history as a trace that can be played: what came from outside, and what ended where. */
export function traceOf(history: readonly Entry[], outside: readonly string[]): TraceItem[] {
  return history.flatMap((entry): TraceItem[] => {
    if (entry.kind === 'ended' && entry.step && entry.port) return [{ fire: entry.step, port: entry.port }]
    if (entry.kind === 'event' && entry.event && !entry.step && outside.includes(entry.event)) return [{ event: entry.event }]
    return []
  })
}
