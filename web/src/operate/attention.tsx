/** What needs a person: the cause, since when, and one action. */
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { type Approval, type Incident, useApprovals, useIncidents, useUndelivered } from '@/api/operations'
import { useQueues, useWorkers, useWorkflows } from '@/api/queries'
import { useRights } from '@/api/rights'
import type { Queue, Undelivered, WorkerSeen } from '@/api/types'
import { t } from '@/messages'
import { Icon, type IconName, durationText, useNow } from '@/ui'
import { type Cause, causesOf } from './causes'

interface Row {
  key: string
  icon: IconName
  tint: 'warn' | 'bad' | 'acc'
  title: string
  detail: string
  dots: { full: number; hollow: number } | null
  since: string
  action: ReactNode
}

const DOTS = 8
const CAUSES = 6
/** Milliseconds that a task may wait before its queue is called slow. */
const PATIENCE = 60_000

type Titles = (name: string | null) => string

function causeRow(cause: Cause, title: Titles): Row {
  const n = cause.items.length
  const first = cause.items[0] as Incident
  const base = { key: cause.key, since: cause.since, action: causeAction(cause, first) }
  if (cause.kind === 'stalled') {
    const subject = n === 1 ? (first.subject ?? first.run ?? '') : title(cause.workflow)
    return { ...base, icon: 'warning', tint: 'warn', title: t('op.stalled', { n }), detail: cause.step === null ? `${subject}: ${cause.said}` : t('ho.stalledDetail', { subject, events: cause.message, step: cause.step }), dots: { full: 1, hollow: Math.min(DOTS, first.starving?.[0]?.missing.length ?? 1) } }
  }
  const detail = `${title(cause.workflow)}${cause.step ? `: ${t('why.named', { name: cause.step })}` : ''} ${cause.said}`
  if (cause.kind === 'failed' || cause.kind === 'poison') return { ...base, icon: 'failed', tint: 'bad', title: n > 1 ? t('ho.failedOneCause', { n }) : t('op.failed', { n }), detail, dots: null }
  if (cause.kind === 'source') return { ...base, icon: 'failed', tint: 'bad', title: t('op.sourceFails', { n }), detail: cause.said, dots: null }
  if (cause.kind === 'unreadable') return { ...base, icon: 'failed', tint: 'bad', title: t('op.unreadable', { n }), detail, dots: null }
  return { ...base, icon: 'note', tint: 'acc', title: t('op.setAside', { n }), detail, dots: null }
}

function causeAction(cause: Cause, first: Incident): ReactNode {
  if (cause.items.length === 1 && first.run !== null)
    return (
      <Link className="btn" to="/app/runs/$id" params={{ id: first.run }}>
        {cause.kind === 'stalled' ? t('op.helpOn') : t('ho.open')}
      </Link>
    )
  return (
    <Link className="btn" to="/app/incidents">
      {t('ho.openIncident')}
    </Link>
  )
}

/** Causes that are not shown one by one: they are not hidden. */
function moreRows(causes: Cause[]): Row[] {
  const oldest = causes.map((cause) => cause.since).sort()[0]
  if (oldest === undefined) return []
  return [
    {
      key: 'more',
      icon: 'incident',
      tint: 'warn',
      title: t('ho.moreCauses', { n: causes.length }),
      detail: t('ho.moreCausesDetail', { n: causes.reduce((sum, cause) => sum + cause.items.length, 0) }),
      dots: null,
      since: oldest,
      action: (
        <Link className="btn" to="/app/incidents">
          {t('nav.incidents')}
        </Link>
      ),
    },
  ]
}

function undeliveredRows(items: Undelivered[]): Row[] {
  const oldest = items[0]
  if (!oldest) return []
  return [
    {
      key: 'undelivered',
      icon: 'token',
      tint: 'acc',
      title: t('ho.undelivered', { n: items.length }),
      detail: t('ho.undeliveredDetail', { event: oldest.event, key: Object.keys(oldest.key).join(', ') }),
      dots: { full: Math.min(DOTS, items.length), hollow: 0 },
      since: oldest.at,
      action: (
        <Link className="btn" to="/app/incidents" hash="undelivered">
          {t('ho.look')}
        </Link>
      ),
    },
  ]
}

function approvalRows(items: Approval[]): Row[] {
  const mine = items.filter((each) => each.may_decide).sort((one, two) => one.opened_at.localeCompare(two.opened_at))
  const oldest = mine[0]
  if (!oldest) return []
  return [
    {
      key: 'approvals',
      icon: 'person',
      tint: 'acc',
      title: t('ho.approvals', { n: mine.length }),
      detail: t('ho.approvalsDetail', { text: oldest.text ?? oldest.step }),
      dots: { full: 0, hollow: Math.min(DOTS, mine.length) },
      since: oldest.opened_at,
      action: (
        <Link className="btn" to="/app/approvals">
          {t('ho.decide')}
        </Link>
      ),
    },
  ]
}

function queueRows(queues: Queue[], workers: WorkerSeen[], now: number): Row[] {
  return queues.flatMap((queue): Row[] => {
    const serving = workers.filter((worker) => worker.task_lists.includes(queue.task_list)).length
    if (!queue.oldest || (serving > 0 && now - new Date(queue.oldest).getTime() < PATIENCE)) return []
    return [
      {
        key: `queue ${queue.task_list}`,
        icon: 'clock',
        tint: 'warn',
        title: serving === 0 ? t('ho.queueAlone', { name: queue.task_list }) : t('ho.queueSlow', { name: queue.task_list }),
        detail: t('ho.queueDetail', { n: queue.ready, workers: serving }),
        dots: null,
        since: queue.oldest,
        action: (
          <Link className="btn" to="/app/queues">
            {t('op.workers')}
          </Link>
        ),
      },
    ]
  })
}

/** `well`: what to say where nothing needs anybody. */
export function Attention({ well }: { well: string }) {
  const now = useNow(30_000)
  const incidents = useIncidents().data
  const undelivered = useUndelivered().data?.items ?? []
  const approvals = useApprovals('open').data?.items ?? []
  const { looksEverywhere } = useRights()
  const queues = useQueues(looksEverywhere).data?.items ?? []
  const workers = useWorkers(looksEverywhere).data?.items
  const names = useWorkflows().data?.items
  if (!incidents) return null
  const title: Titles = (name) => names?.find((each) => each.name === name)?.title ?? name ?? ''
  const causes = causesOf(incidents.items.filter((each) => each.kind !== 'undelivered'))
  const rows = [...causes.slice(0, CAUSES).map((cause) => causeRow(cause, title)), ...moreRows(causes.slice(CAUSES)), ...undeliveredRows(undelivered), ...approvalRows(approvals), ...(workers ? queueRows(queues, workers, now) : [])]
  if (rows.length === 0)
    return (
      <div className="row mx-6 mt-5 mb-2" role="status">
        <span className="ok">
          <Icon name="done" />
        </span>
        <b>{t('ho.allWell')}</b>
        <span className="mut">{well}</span>
      </div>
    )
  return (
    <section aria-labelledby="attention">
      <div className="sect">
        <h2 id="attention">{t('ho.attention')}</h2>
        <span className="cap">{rows.length}</span>
      </div>
      {rows.map((row) => (
        <div key={row.key} className="att">
          <span className={row.tint}>
            <Icon name={row.icon} />
          </span>
          <div className="min-w-0">
            <b>{row.title}</b>
            <div className="mut ell" title={row.detail}>
              <bdi>{row.detail}</bdi>
            </div>
          </div>
          <Dots dots={row.dots} />
          <span className="mut r">{durationText(Math.max(0, now - new Date(row.since).getTime()))}</span>
          {row.action}
        </div>
      ))}
    </section>
  )
}

/** Events that are here, and that are not: the words beside them say the same. */
function Dots({ dots }: { dots: Row['dots'] }) {
  const kinds = dots ? [...Array<string>(dots.full).fill(''), ...Array<string>(dots.hollow).fill('o')] : []
  return (
    <span className="row gap-1" aria-hidden="true">
      {kinds.map((kind, at) => (
        <span key={`${at}${kind}`} className={`tok ${kind}`} />
      ))}
    </span>
  )
}
