import { Tabs as RadixTabs } from 'radix-ui'
import { type ReactNode, useEffect, useState } from 'react'
import { t } from '@/messages'
import { Button } from './buttons'
import { Icon, type IconName } from './icons'

export function EmptyState({ icon, title, detail, action }: { icon?: IconName; title: string; detail?: ReactNode; action?: ReactNode }) {
  return (
    <div className="empty">
      {icon ? <Icon name={icon} /> : null}
      <b className="text-text">{title}</b>
      {detail ? <div className="t12 max-w-[440px]">{detail}</div> : null}
      {action}
    </div>
  )
}

/** A part that could not be had says so, and the rest works. */
export function ErrorPart({ error, onRetry, title = t('error.part') }: { error: unknown; onRetry?: () => void; title?: string }) {
  return (
    <div className="empty" role="alert">
      <span className="bad">
        <Icon name="failed" />
      </span>
      <b className="text-text">{title}</b>
      <div className="t12">{error instanceof Error ? error.message : String(error)}</div>
      {onRetry ? <Button onClick={onRetry}>{t('act.tryAgain')}</Button> : null}
    </div>
  )
}

/** True once something has taken longer than people wait without a sign. */
export function useLate(waiting: boolean, after = 300): boolean {
  const [late, setLate] = useState(false)
  useEffect(() => {
    if (!waiting) {
      setLate(false)
      return
    }
    const timer = setTimeout(() => setLate(true), after)
    return () => clearTimeout(timer)
  }, [waiting, after])
  return late
}

const WIDTHS = ['w-[62%]', 'w-[84%]', 'w-[47%]', 'w-[73%]', 'w-[55%]']

/** Nothing for 300 ms, then grey lines where the content will be. */
export function Skeleton({ lines = 5 }: { lines?: number }) {
  if (!useLate(true)) return null
  return (
    <div className="flex flex-col gap-4 p-6" aria-hidden="true">
      {Array.from({ length: lines }, (_, at) => (
        <span key={at} className={`skel ${WIDTHS[at % WIDTHS.length]}`} />
      ))}
    </div>
  )
}

interface Asked<T> {
  data: T | undefined
  error: unknown
  isPending: boolean
  refetch: () => unknown
}

/** Whether there is no such thing: asking again gives the same. */
export const isMissing = (error: unknown): boolean => (error as { status?: number } | null)?.status === 404

/** What a query came to: grey lines, what went wrong, or the content; `missing` where there is no such thing. */
export function Loaded<T>({ query, lines, missing, children }: { query: Asked<T>; lines?: number; missing?: ReactNode; children: (data: T) => ReactNode }) {
  if (query.data !== undefined) return <>{children(query.data)}</>
  if (query.isPending) return <Skeleton lines={lines} />
  if (missing && isMissing(query.error)) return missing
  return <ErrorPart error={query.error} onRetry={() => void query.refetch()} />
}

export interface Tab {
  id: string
  label: ReactNode
  content: ReactNode
}

export function Tabs({ tabs, value, onChange, label, aside }: { tabs: Tab[]; value: string; onChange: (id: string) => void; label: string; aside?: ReactNode }) {
  return (
    <RadixTabs.Root value={value} onValueChange={onChange} className="col h-full min-h-0">
      <div className="tabs">
        <RadixTabs.List aria-label={label} className="flex gap-[18px]">
          {tabs.map((tab) => (
            <RadixTabs.Trigger key={tab.id} value={tab.id}>
              {tab.label}
            </RadixTabs.Trigger>
          ))}
        </RadixTabs.List>
        <span className="grow" />
        {aside ? <span className="row">{aside}</span> : null}
      </div>
      {tabs.map((tab) => (
        <RadixTabs.Content key={tab.id} value={tab.id} className="min-h-0 flex-1 overflow-auto outline-none" tabIndex={-1}>
          {tab.content}
        </RadixTabs.Content>
      ))}
    </RadixTabs.Root>
  )
}

export interface Column<T> {
  id: string
  head: ReactNode
  cell: (row: T) => ReactNode
  right?: boolean
  width?: string
  /** Left out where there is little room. */
  wide?: boolean
}

const cellClass = (column: { right?: boolean; wide?: boolean }): string => `${column.right ? 'r' : ''} ${column.wide ? 'wide-only' : ''}`.trim()

/** A plain table, on a phone its cells one below the other: rows keep their place, and a row that can be opened is a link in its first cell. */
export function Table<T>({ columns, rows, rowKey, label, tall = false, selected }: { columns: Column<T>[]; rows: T[]; rowKey: (row: T) => string; label: string; tall?: boolean; selected?: (row: T) => boolean }) {
  return (
    <table className={`stacks ${tall ? 'tall' : ''}`} aria-label={label}>
      <thead>
        <tr>
          {columns.map((column) => (
            <th key={column.id} className={cellClass(column)} style={column.width ? { width: column.width } : undefined} scope="col">
              {column.head || <span className="sr">{t('table.actions')}</span>}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={rowKey(row)} className={selected?.(row) ? 'sel' : ''}>
            {columns.map((column, at) => (
              <td key={column.id} className={cellClass(column)} data-head={at > 0 && typeof column.head === 'string' && column.head ? column.head : undefined}>
                {column.cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}
