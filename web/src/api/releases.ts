/** What the release coordinator tells: releases, their tasks and events, services, studies and notes. */
import { type InfiniteData, keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { ApiError, at, get, query } from './client'

/** A state, and when it began. */
export interface Since {
  state: string
  at: string
}

export interface ReleaseTask {
  kf_id: string
  state: string
  progress: number
  task_service: string
  service_name: string
  created_at: string
  states: Since[]
}

export interface Release {
  kf_id: string
  name: string
  description: string
  state: string
  studies: string[]
  tasks: ReleaseTask[]
  notes: string[]
  version: string
  created_at: string
  tags: string[]
  author: string
  is_major: boolean
  partly_published: string[]
  run: string | null
  states: Since[]
  /** What its version is once it is published; none where it has ended. */
  next_version: string | null
}

export interface ReleaseEvent {
  kf_id: string
  event_type: 'info' | 'warning' | 'error'
  message: string
  task: string | null
  created_at: string
}

export interface TaskService {
  kf_id: string
  name: string
  description: string
  author: string
  health_status: string
  /** Health checks that failed in a row. */
  last_ok_status: number
  url: string
  enabled: boolean
}

export interface Study {
  kf_id: string
  name: string
  deleted: boolean
  last_pub_version: string | null
  last_pub_date: string | null
}

export interface Note {
  kf_id: string
  author: string
  description: string
  study: string
  created_at: string
  release: string
}

export interface Results<T> {
  count: number
  results: T[]
}

const MOST = { limit: 400 }
/** How often a page about something that moves asks again, in milliseconds; and about what has ended. */
const SOON = 1_000
const LATER = 5_000
const ENDS = ['published', 'canceled', 'failed']

/** Of a long list: so many come at first, and again whenever more are wanted. */
const RELEASES = 50
const EVENTS = 100

/** Pages as one list: what moved from one to the next while they were asked for is there once. */
export function joined<T extends { kf_id: string }>({ pages }: Pick<InfiniteData<Results<T>>, 'pages'>): Results<T> {
  const found = new Map(pages.flatMap((page) => page.results.map((each) => [each.kf_id, each] as const)))
  return { count: pages.at(-1)?.count ?? 0, results: [...found.values()] }
}

/** Where the next page begins; none where all are there. */
export function nextOffset(_: unknown, pages: Results<unknown>[]): number | undefined {
  const got = pages.reduce((sum, page) => sum + page.results.length, 0)
  const last = pages.at(-1)
  return last && last.results.length > 0 && got < last.count ? got : undefined
}

export const useReleases = () =>
  useInfiniteQuery({
    queryKey: ['releases', 'list'],
    queryFn: ({ pageParam, signal }) => get<Results<Release>>(`/releases${query({ limit: RELEASES, offset: pageParam })}`, signal),
    initialPageParam: 0,
    getNextPageParam: nextOffset,
    select: joined<Release>,
    refetchInterval: 5_000,
  })

/** Those that were published last, whichever page of the list they are on. */
export const usePublished = () => useQuery({ queryKey: ['releases', 'published'], queryFn: ({ signal }) => get<Results<Release>>(`/releases${query({ state: 'published', limit: 10 })}`, signal), refetchInterval: 5_000 })

export const useRelease = (id: string) => useQuery({ queryKey: ['release', id], queryFn: ({ signal }) => get<Release>(at`/releases/${id}`, signal), refetchInterval: ({ state }) => (state.data && ENDS.includes(state.data.state) ? LATER : SOON) })

/** The newest first; of `kinds` only, where it says some. */
export const useReleaseEvents = (id: string, kinds?: string) =>
  useInfiniteQuery({
    queryKey: ['release-events', id, kinds ?? ''],
    queryFn: ({ pageParam, signal }) => get<Results<ReleaseEvent>>(`/events${query({ release: id, event_type: kinds, limit: EVENTS, offset: pageParam })}`, signal),
    initialPageParam: 0,
    getNextPageParam: nextOffset,
    select: joined<ReleaseEvent>,
    placeholderData: keepPreviousData,
    refetchInterval: LATER,
  })

export const useReleaseNotes = (id: string) =>
  useQuery({ queryKey: ['release', id, 'notes'], queryFn: ({ signal }) => get<Results<Note>>(`/release-notes${query({ release: id, ...MOST })}`, signal) })

export const useTaskServices = () =>
  useQuery({ queryKey: ['task-services'], queryFn: ({ signal }) => get<Results<TaskService>>(`/task-services${query(MOST)}`, signal), refetchInterval: 10_000 })

export const useStudies = () => useQuery({ queryKey: ['studies'], queryFn: ({ signal }) => get<Results<Study>>(`/studies${query({ limit: 1000 })}`, signal) })

/** Whether a release may be canceled: not once it is out, or over. */
export const mayCancel = (release: Release): boolean => !['published', 'publishing', 'canceling', 'canceled', 'failed'].includes(release.state)

/** Whether a release has ended, and only some have published. */
export const isPartly = (release: Release): boolean => ['failed', 'canceled'].includes(release.state) && release.partly_published.length > 0

/** Whether a release may be published: once all are staged, or for the rest where only some have published. */
export const mayPublish = (release: Release): boolean => release.state === 'staged' || isPartly(release)

/** The state that is shown: an end after some have published has its own word. */
export const shownState = (release: Release): string => (isPartly(release) ? 'partly_published' : release.state)

/** The services that a release is asked for by name; none where they are just those that are enabled, also meanwhile. */
export const namedServices = (chosen: ReadonlySet<string> | null, enabled: readonly TaskService[]): string[] | undefined =>
  chosen === null || (chosen.size === enabled.length && enabled.every((each) => chosen.has(each.kf_id))) ? undefined : [...chosen]

/** What the coordinator says of each field that it does not take; what is not about a field is under ''. */
export function fieldErrors(error: unknown): Record<string, string> {
  if (!(error instanceof ApiError)) return { '': String(error) }
  const found: Record<string, string> = {}
  for (const [name, said] of Object.entries(error.body)) if (Array.isArray(said)) found[name === 'non_field_errors' ? '' : name] = said.join(' ')
  return Object.keys(found).length > 0 ? found : { '': error.detail }
}

/** The id at the end of an address such as https://h/studies/SD_1. */
export const idOf = (address: string): string => address.replace(/\/+$/, '').split('/').at(-1) ?? ''
