/** What an expression comes to on the sample that is pinned, as the server says. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useEffect, useMemo, useState } from 'react'
import { post } from '@/api/client'
import { scopeOf, usePinned } from '../try/sample'

export interface Evaluated {
  value?: unknown
  error?: string | null
  code?: string | null
  line?: number | null
  column?: number | null
}

export function useScope(more?: Record<string, unknown>): Record<string, unknown> {
  const state = usePinned()
  return useMemo(() => ({ ...scopeOf(state), ...more }), [state, more])
}

/** A value once it has not changed for so many milliseconds. */
export function useRested<T>(value: T, after: number): T {
  const [rested, setRested] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setRested(value), after)
    return () => clearTimeout(timer)
  }, [value, after])
  return rested
}

export function useValue(expression: string, scope: Record<string, unknown>): Evaluated | undefined {
  const rested = useRested(expression, 200)
  return useQuery({
    queryKey: ['expression', rested, scope],
    queryFn: () => post<Evaluated>('/api/expressions', { expression: rested, scope }),
    enabled: rested.trim() !== '',
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: keepPreviousData,
    retry: false,
  }).data
}
