/** The list of runs: pages of it by cursor, and what changed since it was shown. */
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { useEffect, useMemo, useRef, useState } from 'react'
import { get, query } from '@/api/client'
import type { Page, RunLine } from '@/api/types'
import { cache } from '@/api/queries'
import { onChange } from '@/live/connection'
import { type Filter, type Part, asked, strange } from './filters'

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
      return get<Page<RunLine>>(`/api/runs${query({ ...asked(filter, Date.now()), limit: PAGE, cursor: pageParam })}`, signal)
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

interface Seen {
  status: RunLine['status']
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
    let coming = new Map<string, Seen>()
    let others = new Set<string>()
    let timer: ReturnType<typeof setTimeout> | undefined
    const flush = () => {
      timer = undefined
      const [now, more] = [coming, others]
      coming = new Map()
      others = new Set()
      if (now.size > 0) setChanged((before) => new Map([...before, ...now]))
      if (more.size > 0) setFresh((before) => new Set([...before, ...more].slice(-10_000)))
    }
    const stop = onChange((change) => {
      const status = change.status as RunLine['status']
      const { workflow, status: statuses } = wanted.current
      if (shown.current.has(change.run)) coming.set(change.run, { status })
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
