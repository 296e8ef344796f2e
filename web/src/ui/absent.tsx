import { t } from '@/messages'
import { EmptyState, ErrorPart, Skeleton } from './parts'
import type { ReactNode } from 'react'

interface Asked<T> {
  data: T | undefined
  error: unknown
  isPending: boolean
  refetch: () => unknown
}

/** Like Loaded, for what a server may not have yet, or not for this person. */
export function LoadedOrAbsent<T>({ query, lines, children }: { query: Asked<T>; lines?: number; children: (data: T) => ReactNode }) {
  if (query.data !== undefined) return <>{children(query.data)}</>
  if (query.isPending) return <Skeleton lines={lines} />
  const status = (query.error as { status?: number } | null)?.status
  if (status === 404 || status === 405) return <EmptyState icon="note" title={t('absent.title')} detail={t('absent.detail')} />
  if (status === 403) return <EmptyState icon="note" title={t('absent.role')} detail={t('absent.roleDetail')} />
  return <ErrorPart error={query.error} onRetry={() => void query.refetch()} />
}
