/** Who did what to this run. */
import { useQuery } from '@tanstack/react-query'
import { get, query } from '@/api/client'
import type { AuditEntry, Page } from '@/api/types'
import { t } from '@/messages'
import { EmptyState, Table, Time } from '@/ui'
import { LoadedOrAbsent } from '@/ui/absent'

/** Pages of the record that are looked through for one run. */
const PAGES = 5
const PAGE = 200

export const useRunAudit = (id: string) =>
  useQuery({
    queryKey: ['run', id, 'audit'],
    queryFn: async ({ signal }) => {
      const found: AuditEntry[] = []
      let cursor: string | undefined
      for (let page = 0; page < PAGES; page++) {
        const { items, next } = await get<Page<AuditEntry>>(`/api/audit${query({ limit: PAGE, cursor })}`, signal)
        found.push(...items.filter((entry) => entry.target.includes(id)))
        if (next === null) return { found, whole: true }
        cursor = next
      }
      return { found, whole: false }
    },
    retry: false,
    staleTime: 10_000,
  })

export function AuditTab({ id }: { id: string }) {
  const audit = useRunAudit(id)
  return (
    <LoadedOrAbsent query={audit}>
      {({ found, whole }) =>
        found.length === 0 ? (
          <EmptyState icon="paper" title={t(whole ? 'rp.auditNone' : 'rp.auditNoneLately', { n: PAGES * PAGE })} />
        ) : (
          <Table
            label={t('rp.audit')}
            rows={found}
            rowKey={(entry) => String(entry.number)}
            columns={[
              { id: 'at', head: t('op.when'), cell: (entry) => <Time at={entry.at} /> },
              { id: 'who', head: t('op.who'), cell: (entry) => <bdi>{entry.actor}</bdi> },
              { id: 'what', head: t('op.what'), cell: (entry) => <code>{entry.action}</code> },
              { id: 'why', head: t('rp.reason'), cell: (entry) => <bdi>{entry.reason ?? ''}</bdi> },
            ]}
          />
        )
      }
    </LoadedOrAbsent>
  )
}
