/** What people did, newest first; and whether the record is whole. */
import { useState } from 'react'
import { post } from '@/api/client'
import { useAudit } from '@/api/operations'
import { PageBody, PageHead } from '@/app/heading'
import { May } from '@/app/may'
import { t } from '@/messages'
import { Button, EmptyState, Table, Time } from '@/ui'
import { LoadedOrAbsent } from '@/ui/absent'
import { toast } from '@/ui/toasts'
import { useActing } from '@/run/acting'

export default function AuditPage() {
  const [cursors, setCursors] = useState<string[]>([])
  const audit = useAudit(cursors.at(-1))
  const { busy, act } = useActing()
  const verify = () =>
    void act(async () => {
      const answer = await post<{ whole: boolean; problem: string | null }>('/api/audit/verify')
      toast(answer.whole ? { kind: 'ok', title: t('op.auditWhole') } : { kind: 'bad', title: t('op.auditBroken'), detail: answer.problem ?? '', lasts: 0 })
    })
  return (
    <>
      <PageHead title={t('nav.audit')} about={t('op.auditAbout')}>
        <May what="administers">
          <Button icon="check" busy={busy} onClick={verify}>
            {t('op.verify')}
          </Button>
        </May>
      </PageHead>
      <PageBody label={t('nav.audit')}>
        <LoadedOrAbsent query={audit}>
          {(page) =>
            page.items.length === 0 ? (
              <EmptyState icon="paper" title={t('op.noAudit')} />
            ) : (
              <>
                <Table
                  label={t('nav.audit')}
                  rows={page.items}
                  rowKey={(each) => String(each.number)}
                  columns={[
                    { id: 'n', wide: true, head: '#', cell: (each) => each.number },
                    { id: 'at', head: t('op.when'), cell: (each) => <Time at={each.at} /> },
                    { id: 'who', head: t('op.who'), cell: (each) => <bdi>{each.actor}</bdi> },
                    { id: 'what', head: t('op.what'), cell: (each) => <code>{each.action}</code> },
                    { id: 'to', head: t('op.target'), cell: (each) => <bdi>{each.target}</bdi> },
                    { id: 'why', wide: true, head: t('rp.reason'), cell: (each) => <bdi>{each.reason ?? ''}</bdi> },
                    { id: 'ip', wide: true, head: t('op.from'), cell: (each) => each.ip ?? '' },
                  ]}
                />
                <div className="flex justify-center gap-2 p-3">
                  {cursors.length > 0 ? <Button onClick={() => setCursors(cursors.slice(0, -1))}>{t('op.newer')}</Button> : null}
                  {page.next ? <Button onClick={() => setCursors([...cursors, page.next ?? ''])}>{t('op.older')}</Button> : null}
                </div>
              </>
            )
          }
        </LoadedOrAbsent>
      </PageBody>
    </>
  )
}
