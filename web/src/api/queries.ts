/** What pages read, kept by the query cache: one hook a thing. */
import { QueryClient, keepPreviousData, useQuery } from '@tanstack/react-query'
import { ApiError, at, get, query } from './client'
import { spokenOffers } from '@/messages/boxes'
import { every } from './every'
import type { Draft, HookLine, Marking, Page, Queue, Run, RunLine, TaskOffer, Version, VersionLine, Who, Why, WorkerSeen, WorkflowLine } from './types'

export const cache = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      refetchOnWindowFocus: true,
      retry: (count, error) => error instanceof ApiError && (error.away || error.status >= 500) && count < 2,
      retryDelay: (count) => Math.min(4_000, 500 * 2 ** count),
    },
  },
})

export const useWho = () => useQuery({ queryKey: ['who'], queryFn: ({ signal }) => get<Who>('/api/session', signal), staleTime: 60_000 })

export const useWorkflows = () =>
  useQuery({ queryKey: ['workflows'], queryFn: ({ signal }) => every<WorkflowLine>('/api/workflows', signal), refetchInterval: 30_000 })

/** Every address that takes calls of other systems. */
export const useHooks = () => useQuery({ queryKey: ['hooks'], queryFn: ({ signal }) => every<HookLine>('/api/hooks', signal) })

export const useDraft = (name: string, enabled = true) =>
  useQuery({ queryKey: ['workflow', name], queryFn: ({ signal }) => get<Draft>(at`/api/workflows/${name}`, signal), enabled })

export const useVersions = (name: string) =>
  useQuery({ queryKey: ['workflow', name, 'versions'], queryFn: ({ signal }) => get<Page<VersionLine>>(at`/api/workflows/${name}/versions`, signal) })

/** One version; it never changes, so it is asked for once. */
export const useVersion = (name: string, version: number | undefined) =>
  useQuery({
    queryKey: ['workflow', name, 'version', version],
    queryFn: ({ signal }) => get<Version>(at`/api/workflows/${name}/versions/${version ?? 0}`, signal),
    enabled: version !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
  })

export type RunFilter = Record<string, string | number | string[] | undefined>

export const useRuns = (filter: RunFilter) =>
  useQuery({
    queryKey: ['runs', filter],
    queryFn: ({ signal }) => get<Page<RunLine>>(`/api/runs${query(filter)}`, signal),
    placeholderData: keepPreviousData,
    refetchInterval: 10_000,
  })

export const useRun = (id: string) => useQuery({ queryKey: ['run', id], queryFn: ({ signal }) => get<Run>(at`/api/runs/${id}`, signal) })

export const useWhy = (id: string, enabled = true) =>
  useQuery({ queryKey: ['run', id, 'why'], queryFn: ({ signal }) => get<Why>(at`/api/runs/${id}/why`, signal), enabled })

export const useMarking = (id: string, seq?: number) =>
  useQuery({
    queryKey: ['run', id, 'marking', seq ?? 'now'],
    queryFn: ({ signal }) => get<Marking>(`${at`/api/runs/${id}/marking`}${query({ at: seq })}`, signal),
    placeholderData: keepPreviousData,
  })

export const useTasks = () => useQuery({ queryKey: ['tasks'], queryFn: ({ signal }) => every<TaskOffer>('/api/tasks', signal) })

/** The same in the language of the reader, for who shows their texts: the words for it come with it. */
export const useSpokenTasks = () =>
  useQuery({
    queryKey: ['tasks', 'spoken'],
    queryFn: async ({ signal }) => {
      const page = await every<TaskOffer>('/api/tasks', signal)
      return { ...page, items: await spokenOffers(page.items) }
    },
  })

export const useQueues = (enabled = true) => useQuery({ queryKey: ['queues'], queryFn: ({ signal }) => get<Page<Queue>>('/api/queues', signal), refetchInterval: 5_000, enabled })

export const useWorkers = (enabled = true) =>
  useQuery({ queryKey: ['workers'], queryFn: ({ signal }) => get<Page<WorkerSeen>>('/api/workers', signal), refetchInterval: 15_000, enabled })

