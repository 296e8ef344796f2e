/** Task lists and the workers that serve them. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { at, get, post } from '@/api/client'
import { useSettings } from '@/api/operations'
import { useQueues, useWorkers } from '@/api/queries'
import { useRights } from '@/api/rights'
import { PageBody, PageHead } from '@/app/heading'
import { t } from '@/messages'
import { Button, EmptyState, StatusChip, Table, Time } from '@/ui'
import { LoadedOrAbsent } from '@/ui/absent'
import { useActing } from '@/run/acting'
import { type WhyList, listReason } from '@/run/reasons'

export default function QueuesPage() {
  const queues = useQueues()
  const workers = useWorkers()
  return (
    <>
      <PageHead title={t('nav.queues')}>
        <PauseAll />
      </PageHead>
      <PageBody label={t('nav.queues')}>
        <div className="sect">
          <h2>{t('op.queues')}</h2>
        </div>
        <LoadedOrAbsent query={queues}>
          {(page) =>
            page.items.length === 0 ? (
              <EmptyState icon="queue" title={t('op.noQueue')} detail={t('op.noQueueDetail')} />
            ) : (
              <Table
                label={t('op.queues')}
                rows={page.items}
                rowKey={(each) => each.task_list}
                columns={[
                  { id: 'name', head: t('op.queue'), cell: (each) => <code>{each.task_list}</code> },
                  { id: 'ready', head: t('op.waiting'), right: true, cell: (each) => each.ready },
                  { id: 'held', wide: true, head: t('op.held'), right: true, cell: (each) => each.held },
                  { id: 'running', head: t('step.running'), right: true, cell: (each) => each.running },
                  { id: 'oldest', wide: true, head: t('op.oldest'), cell: (each) => (each.oldest ? <Time at={each.oldest} as="ago" /> : '–') },
                  { id: 'workers', head: t('op.workers'), right: true, cell: (each) => workers.data?.items.filter((worker) => worker.task_lists.includes(each.task_list)).length ?? '' },
                  { id: 'why', head: '', cell: (each) => (each.ready > 0 ? <WhyQueue name={each.task_list} /> : null) },
                ]}
              />
            )
          }
        </LoadedOrAbsent>
        <div className="sect">
          <h2>{t('op.workers')}</h2>
          <span className="cap">{workers.data?.items.length ?? ''}</span>
        </div>
        <LoadedOrAbsent query={workers}>
          {(page) =>
            page.items.length === 0 ? (
              <EmptyState icon="queue" title={t('op.noWorkers')} detail={t('op.noWorkersDetail')} />
            ) : (
              <Table
                tall
                label={t('op.workers')}
                rows={page.items}
                rowKey={(each) => each.id}
                columns={[
                  { id: 'name', head: t('op.worker'), cell: (each) => <b>{each.name}</b> },
                  { id: 'state', head: t('ru.status'), cell: () => <StatusChip status="running" text={t('op.present')} /> },
                  { id: 'lists', wide: true, head: t('op.queues'), cell: (each) => <code>{each.task_lists.join(', ')}</code> },
                  { id: 'tasks', wide: true, head: t('op.tasks'), cell: (each) => <span title={each.tasks.join(', ')}>{each.tasks.length}</span> },
                  { id: 'most', wide: true, head: t('op.atOnce'), right: true, cell: (each) => each.concurrency },
                  { id: 'since', wide: true, head: t('op.since'), cell: (each) => <Time at={each.started_at} as="ago" /> },
                  { id: 'seen', head: t('op.seen'), cell: (each) => (each.seen_at ? <Time at={each.seen_at} as="ago" /> : t('op.here')) },
                ]}
              />
            )
          }
        </LoadedOrAbsent>
      </PageBody>
    </>
  )
}

function WhyQueue({ name }: { name: string }) {
  const [open, setOpen] = useState(false)
  const why = useQuery({ queryKey: ['queue', name, 'why'], queryFn: ({ signal }) => get<WhyList>(at`/api/queues/${name}/why`, signal), enabled: open }).data
  return open && why ? (
    <span className="mut">{listReason(why)}</span>
  ) : (
    <Button size="s" onClick={() => setOpen(true)}>
      {t('op.whyWaits')}
    </Button>
  )
}

/** Holds everything, or lets it go on. */
function PauseAll() {
  const admin = useRights().administers
  const paused = useSettings(admin).data?.paused ?? false
  const { busy, act } = useActing([['settings']])
  if (!admin) return null
  return (
    <Button icon={paused ? 'play' : 'paused'} busy={busy} onClick={() => void act(() => post(paused ? '/api/resume' : '/api/pause'), paused ? t('op.allResumed') : t('op.allPaused'))}>
      {paused ? t('op.resumeAll') : t('op.pauseAll')}
    </Button>
  )
}
