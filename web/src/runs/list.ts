/** The list of runs: pages of it by cursor, and what changed since it was shown. */
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { useEffect, useMemo, useRef, useState } from 'react'
import { at, get, query } from '@/api/client'
import type { Page, Run, RunLine } from '@/api/types'
import { cache } from '@/api/queries'
import { onChange } from '@/live/connection'
import { type Filter, LIVE, type Part, asked as askedOf, strange } from './filters'

export const PAGE = 50

/** The filter asks for what cannot be. */
export class Strange extends Error {
  constructor(readonly part: Part) {
    super(part)
  }
}

export function useRunList(filter: Filter) {
  const key = JSON.stringify(filter)
  const found = useInfiniteQuery({
    queryKey: ['runs', 'list', key],
    queryFn: ({ pageParam, signal }) => {
      const part = strange(filter)
      if (part) throw new Strange(part)
      return get<Page<RunLine>>(`/api/runs${query({ ...askedOf(filter, Date.now()), limit: PAGE, cursor: pageParam })}`, signal)
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next ?? undefined,
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
  })
  const lines = useMemo(() => found.data?.pages.flatMap((page) => page.items) ?? [], [found.data])
  return { found, lines, queryKey: ['runs', 'list', key] }
}

/** What is known of a line since it was shown. */
export interface Seen {
  status: RunLine['status']
  ended_at: string | null
  /** Null until the server has told it. */
  waiting_for: string[] | null
}

/** Lines that are asked for anew with one look: in a flood of changes the others have their status alone. */
const RENEWED = 20

/** The line as it is by now. Of a run that had ended before, no change says that it ended now. */
export function lineNow(line: RunLine, seen: Seen | undefined): RunLine {
  if (!seen) return line
  if (seen.waiting_for) return { ...line, ...seen, waiting_for: seen.waiting_for }
  return seen.status === line.status ? line : { ...line, status: seen.status, ended_at: seen.ended_at, waiting_for: [] }
}

/** What a change comes to beside what was known. */
export function seenBy(status: RunLine['status'], before: Seen | undefined, now: number): Seen {
  return before?.status === status ? before : { status, ended_at: LIVE.has(status) ? null : new Date(now).toISOString(), waiting_for: null }
}

async function renewed(id: string): Promise<[string, Seen][]> {
  try {
    const { status, ended_at, waiting_for } = await get<Run>(at`/api/runs/${id}`)
    return [[id, { status, ended_at, waiting_for }]]
  } catch {
    return [] // it has its status, and the next change asks again
  }
}

/** Runs that are shown change in place; others that could belong here are only counted. */
export function useNews(lines: RunLine[], filter: Filter): { changed: ReadonlyMap<string, Seen>; fresh: number; forget: () => void } {
  const shown = useRef(new Set<string>())
  shown.current = new Set(lines.map((line) => line.id))
  const wanted = useRef(filter)
  wanted.current = filter
  const [changed, setChanged] = useState<ReadonlyMap<string, Seen>>(new Map())
  const [fresh, setFresh] = useState<ReadonlySet<string>>(new Set())
  useEffect(() => {
    let coming = new Map<string, RunLine['status']>()
    let others = new Set<string>()
    let timer: ReturnType<typeof setTimeout> | undefined
    const put = (news: Iterable<[string, Seen]>) => setChanged((before) => new Map([...before, ...news]))
    const flush = () => {
      timer = undefined
      const [now, more] = [coming, others]
      coming = new Map()
      others = new Set()
      if (now.size > 0) setChanged((before) => new Map([...before, ...[...now].map(([id, status]): [string, Seen] => [id, seenBy(status, before.get(id), Date.now())])]))
      const asked = [...now].filter(([, status]) => status !== 'running').slice(0, RENEWED)
      if (asked.length > 0) void Promise.all(asked.map(([id]) => renewed(id))).then((found) => put(found.flat()))
      if (more.size > 0) setFresh((before) => new Set([...before, ...more].slice(-10_000)))
    }
    const stop = onChange((change) => {
      const status = change.status as RunLine['status']
      const { workflow, status: statuses } = wanted.current
      if (shown.current.has(change.run)) coming.set(change.run, status)
      else if ((!workflow || workflow === change.workflow) && (!statuses || statuses.split(',').includes(status))) others.add(change.run)
      timer ??= setTimeout(flush, 400)
    })
    return () => {
      stop()
      clearTimeout(timer)
    }
  }, [])
  const fits = [...fresh].filter((id) => !shown.current.has(id)).length
  return {
    changed,
    fresh: fits,
    forget: () => {
      setFresh(new Set())
      setChanged(new Map())
      void cache.invalidateQueries({ queryKey: ['runs'] })
    },
  }
}
