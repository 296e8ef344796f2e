/** What the pages beside the editor read and do: shapes that the description of the API leaves open, and a hook a thing. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { ApiError, at, get, query } from './client'
import { every } from './every'
import { linesOn } from './lines'
import type { AuditEntry, LogLine, Page, RunLine, RunStatus, SecretView, Settings, Source, StepStatus, TokenView, Undelivered, View } from './types'

export interface SlotEvent {
  number: number
  event: string
  data: unknown
  at: string
  step: string | null
}

export interface Slot {
  step: string
  slot: number
  takes: string[]
  need: number
  events: SlotEvent[]
}

export interface MarkingAt {
  run: string
  seq: number
  slots: Slot[]
  steps: Record<string, { status: StepStatus; firings: number; live: number }>
  data: unknown
  tags: Record<string, unknown>
}

export interface Missing {
  event: string
  outside: boolean
  /** It came from outside, and counts once. */
  came?: boolean
  steps: { step: string; status: string }[]
}

export interface WhyStep {
  step: string
  reason: string
  text: string
  since?: string
  worker?: string
  attempt?: number
  progress?: unknown
  missing?: Missing[]
  until?: string | null
  due?: string | null
  role?: string
  run?: string
  by?: string[]
  parallel?: number
  key?: string
  holders?: string[]
  ahead?: number
  task?: string
  task_list?: string
}

export interface WhyRun {
  run: string
  status: RunStatus
  waiting_for: string[]
  text: string
  steps: WhyStep[]
}

export interface Incident {
  kind: 'failed' | 'stalled' | 'set_aside' | 'undelivered' | string
  run: string | null
  at: string
  text: string
  actions: string[]
  workflow?: string
  version?: number
  subject?: string | null
  status?: RunStatus
  steps?: string[]
  step?: string
  event?: string
  id?: number
  error?: { kind: string; message: string; detail?: unknown } | null
  starving?: { step: string; missing: string[] }[]
  /** Why a source fails, an event was set aside, or a run cannot be read. */
  reason?: string
  /** The kind of a source that fails. */
  source?: string
}

export interface Spread {
  p50: number
  p90: number
  p95: number
  p99: number
  max: number
}

export interface StepStats {
  firings: number
  failed: number
  retries: number
  per_run: number
  per_hour: number
  waiting: Spread | null
  running: Spread | null
  apart: boolean
}

export interface Stats {
  workflow: string
  from: string
  to: string
  runs: { started: number; per_hour: number; statuses: Record<string, number>; seconds: Spread | null }
  versions: Record<string, Record<string, number>>
  steps: Record<string, StepStats>
  sampled: { runs: number; of: number }
  calls?: CallStats
}

/** Calls leave no run: the server that is asked counts those that it has answered. */
export interface CallStats {
  since: string
  count: number
  statuses: Record<string, number>
  steps: Record<string, { firings: number; failed: number }>
  seconds: Spread
}

export interface Lines {
  ended: number[]
  failed: number[]
  succeeded: number[]
}

export interface Pulse extends Lines {
  from: string
  to: string
  seconds: number
  starts: (Spread | null)[]
  start: Spread | null
  workflows: Record<string, Lines & { typical: number | null }>
}

export interface Schema {
  type?: string | string[]
  title?: string
  description?: string
  properties?: Record<string, Schema>
  required?: string[]
  enum?: unknown[]
  const?: unknown
  default?: unknown
  examples?: unknown[]
  items?: Schema
  format?: string
  minimum?: number
  maximum?: number
  maxLength?: number
  oneOf?: Schema[]
}

export interface Decision {
  decision?: string
  fields?: Record<string, unknown> | null
  comment?: string | null
  by?: string | null
  at?: string | null
}

export interface Approval {
  id: string
  run: string
  workflow: string
  subject: string | null
  step: string
  index: number | null
  status: 'open' | 'approved' | 'rejected' | 'expired' | 'closed'
  role: string
  text: string | null
  fields: Schema | null
  separate: boolean
  opened_at: string
  due_at: string | null
  ended_at: string | null
  decision: Decision | null
  may_decide: boolean
}

export interface Schedule {
  workflow: string
  version: number
  kind: string
  schedule: string
  cron: string | null
  every: string | null
  tz: string
  overrun: string | null
  catch_up: string | null
  state: string
  next: string[]
  last_tick: string | null
  last_run: string | null
  waiting: string | null
  skipped: number
  error: string | null
  backfill: { count: number; made: number; there: number; failed: number; state: string } | null
}

export interface StoreSeen {
  name: string
  kind: string
  bucket: string
  reachable: boolean
  last_event: { event: string; key: string; at: string } | null
  counts: Record<string, number>
  error: string | null
}

/** A call that this server does not have: the page says so, and the rest works. */
export const isAbsent = (error: unknown): boolean => error instanceof ApiError && (error.status === 404 || error.status === 405 || error.status === 501)

export const useWhyRun = (id: string, enabled = true) =>
  useQuery({ queryKey: ['run', id, 'why'], queryFn: ({ signal }) => get<WhyRun>(at`/api/runs/${id}/why`, signal), enabled, placeholderData: keepPreviousData })

export const useMarkingAt = (id: string, seq?: number) =>
  useQuery({
    queryKey: ['run', id, 'marking', seq ?? 'now'],
    queryFn: ({ signal }) => get<MarkingAt>(`${at`/api/runs/${id}/marking`}${query({ at: seq })}`, signal),
    placeholderData: keepPreviousData,
    staleTime: seq === undefined ? 0 : Number.POSITIVE_INFINITY,
  })

export const useIncidents = (filter: { workflow?: string; limit?: number } = {}, enabled = true) =>
  useQuery({
    queryKey: ['incidents', filter],
    queryFn: ({ signal }) => get<Page<Incident>>(`/api/incidents${query({ limit: 200, ...filter })}`, signal),
    placeholderData: keepPreviousData,
    refetchInterval: 30_000,
    enabled,
  })

export interface SlowStep {
  run: string
  workflow: string
  step: string
  since: string
  subject?: string | null
  text?: string
}

export const useSlow = () => useQuery({ queryKey: ['slow'], queryFn: ({ signal }) => get<Page<SlowStep>>('/api/incidents/slow', signal), refetchInterval: 30_000 })

export interface Stuck {
  runs: string[] | { run: string }[]
  tasks: { task_list: string; task: string; count?: number; number?: number; oldest?: string | null }[]
}

export const useStuck = () => useQuery({ queryKey: ['stuck'], queryFn: ({ signal }) => get<Stuck>('/api/incidents/stuck', signal), refetchInterval: 30_000 })

export const useUndelivered = () => useQuery({ queryKey: ['undelivered'], queryFn: ({ signal }) => every<Undelivered>('/api/events/undelivered', signal), refetchInterval: 30_000 })

export const HOURS: Record<string, number> = { '1h': 1, '24h': 24, '7d': 168, '30d': 720 }
export type Period = keyof typeof HOURS

/** Ends over a period up to now; it is asked for anew every half minute. */
export const usePulse = (period: string, enabled = true) =>
  useQuery({
    queryKey: ['pulse', period],
    queryFn: ({ signal }) => get<Pulse>(`/api/stats${query({ from: since(period), points: period === '1h' ? 60 : period === '7d' ? 84 : 72 })}`, signal),
    placeholderData: keepPreviousData,
    refetchInterval: 30_000,
    enabled,
  })

/** The moment that a period began. */
export const since = (period: string): string => new Date(Date.now() - (HOURS[period] ?? 24) * 3_600_000).toISOString()

/** None of a workflow that has never been published: the server knows none. */
export const useStats = (name: string, period: string, published: boolean) =>
  useQuery({
    queryKey: ['workflow', name, 'stats', period],
    queryFn: ({ signal }) => get<Stats>(`${at`/api/workflows/${name}/stats`}${query({ from: since(period) })}`, signal),
    enabled: published,
    placeholderData: keepPreviousData,
    refetchInterval: 60_000,
  })

export const useViews = () => useQuery({ queryKey: ['views'], queryFn: ({ signal }) => every<View>('/api/views', signal), staleTime: 60_000 })

const quiet = { retry: false } as const

export const useApprovals = (status: string, enabled = true) =>
  useQuery({ queryKey: ['approvals', status], queryFn: ({ signal }) => every<Approval>('/api/approvals', signal, { status }), refetchInterval: 15_000, enabled, ...quiet })

/** What is fed: clocks, searches, folders, topics. */
export const useSources = () => useQuery({ queryKey: ['sources'], queryFn: ({ signal }) => every<Source>('/api/sources', signal), refetchInterval: 15_000, ...quiet })

export const useSchedules = () => useQuery({ queryKey: ['schedules'], queryFn: ({ signal }) => every<Schedule>('/api/schedules', signal), refetchInterval: 30_000, ...quiet })

export const useStores = () => useQuery({ queryKey: ['stores'], queryFn: ({ signal }) => every<StoreSeen>('/api/stores', signal), refetchInterval: 30_000, ...quiet })

export const useAccess = () => useQuery({ queryKey: ['access'], queryFn: ({ signal }) => every<TokenView>('/api/access', signal), ...quiet })

export const useSecrets = () => useQuery({ queryKey: ['secrets'], queryFn: ({ signal }) => every<SecretView>('/api/secrets', signal), ...quiet })

export const useAudit = (cursor?: string) =>
  useQuery({ queryKey: ['audit', cursor ?? ''], queryFn: ({ signal }) => get<Page<AuditEntry>>(`/api/audit${query({ limit: 100, cursor })}`, signal), placeholderData: keepPreviousData, ...quiet })

export const useSettings = (enabled = true) => useQuery({ queryKey: ['settings'], queryFn: ({ signal }) => get<Settings>('/api/settings', signal), enabled, ...quiet })

export const useLogs = (id: string) => {
  const queryKey = ['run', id, 'logs']
  return useQuery({ queryKey, queryFn: ({ signal, client }) => linesOn(id, client.getQueryData<LogLine[]>(queryKey) ?? [], signal), placeholderData: keepPreviousData })
}

/** Runs below this one: its steps started them. The newest, where there are many. */
export const useChildren = (parent: string, enabled: boolean) =>
  useQuery({ queryKey: ['run', parent, 'children'], queryFn: ({ signal }) => get<Page<RunLine>>(`/api/runs${query({ parent, limit: 20 })}`, signal), enabled })
