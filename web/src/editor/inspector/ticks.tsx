/** When a clock ticks next, before it is saved: the server says so, by the very rules that it keeps. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { ApiError, post } from '@/api/client'
import type { Ticks } from '@/api/types'
import { t } from '@/messages'
import { Time } from '@/ui'
import { useRested } from '../conditions/value'

const SHOWN = 3

export interface Clock {
  cron?: unknown
  every?: unknown
  tz?: unknown
}

const said = (value: unknown) => (value === undefined || value === '' ? null : value)

export function NextTicks({ cron, every, tz }: Clock) {
  const clock = useMemo(() => ({ cron: said(cron), every: said(every), tz: said(tz), count: SHOWN }), [cron, every, tz])
  const rested = useRested(clock, 200)
  const { data, error } = useQuery({
    queryKey: ['ticks', rested],
    queryFn: () => post<Ticks>('/api/schedules/preview', rested),
    enabled: rested.cron !== null || rested.every !== null,
    placeholderData: keepPreviousData,
    refetchInterval: 30_000,
    retry: false,
  })
  if (clock.cron === null && clock.every === null) return null
  if (error instanceof ApiError && !error.away) return <p className="t11 warn">{error.detail}</p>
  if (!data) return null
  return (
    <div className="t11 mut">
      {t('inspector.nextTicks')}
      <ul className="mt-0.5">
        {data.next.map((tick) => (
          <li key={tick}>
            <Time at={tick} />
          </li>
        ))}
      </ul>
    </div>
  )
}
