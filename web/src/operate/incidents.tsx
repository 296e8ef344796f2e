/** What waits for a person, by cause: with what can be done to all of it at once. */
import { Link } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { at, post } from '@/api/client'
import { useIncidents, useSlow, useStuck, useUndelivered } from '@/api/operations'
import { useDraft, useRun, useVersion, useWorkflows } from '@/api/queries'
import { useRights } from '@/api/rights'
import type { Undelivered } from '@/api/types'
import { PageBody, PageHead } from '@/app/heading'
import { LooksOn } from '@/app/may'
import { t } from '@/messages'
import { Button, EmptyState, EventPill, Icon, Loaded, Table, Time } from '@/ui'
import { short } from '@/ui/json'
import { toast } from '@/ui/toasts'
import { sentence, useActing } from '@/run/acting'
import { SkipDialog } from '@/run/dialogs'
import { undoable } from '@/run/undo'
import { type Said, titleOf } from '@/run/facts'
import { type Cause, causesOf } from './causes'
import { FailingSources, useFailing } from './sources'

export default function IncidentsPage() {
  const incidents = useIncidents()
  const undelivered = useUndelivered().data?.items ?? []
  const slow = useSlow().data?.items ?? []
  const stuck = useStuck().data
  const failing = useFailing()
  return (
    <>
      <PageHead title={t('nav.incidents')} about={incidents.data ? t('op.incidentsAbout', { n: incidents.data.items.length }) : undefined}>
        <LooksOn />
      </PageHead>
      <PageBody label={t('nav.incidents')}>
        <Loaded query={incidents}>
          {(page) => {
            const causes = causesOf(page.items.filter((each) => each.kind !== 'undelivered' && each.kind !== 'source'))
            if (causes.length + undelivered.length + slow.length + (stuck?.tasks.length ?? 0) + failing.length === 0) return <EmptyState icon="done" title={t('op.noIncident')} detail={t('op.noIncidentDetail')} />
            return (
              <>
                {causes.map((cause) => (
                  <CausePart key={cause.key} cause={cause} />
                ))}
                {page.next ? <div className="fnt t12 px-6 py-2">{t('op.moreIncidents')}</div> : null}
              </>
            )
          }}
        </Loaded>
        <FailingSources sources={failing} />
        {undelivered.length > 0 ? <UndeliveredPart items={undelivered} /> : null}
        {slow.length > 0 ? (
          <section>
            <div className="sect">
              <h2>{t('op.slow')}</h2>
              <span className="cap">{slow.length}</span>
            </div>
            <Table
              label={t('op.slow')}
              rows={slow}
              rowKey={(each) => `${each.run} ${each.step}`}
              columns={[
                { id: 'run', head: t('op.run'), cell: (each) => <Link to="/app/runs/$id" params={{ id: each.run }}>{each.subject ?? each.run}</Link> },
                { id: 'step', head: t('rp.step'), cell: (each) => <bdi>{each.step}</bdi> },
                { id: 'since', head: t('op.since'), cell: (each) => <Time at={each.since} as="ago" /> },
              ]}
            />
          </section>
        ) : null}
        {stuck && stuck.tasks.length > 0 ? (
          <section>
            <div className="sect">
              <h2>{t('op.noWorker')}</h2>
            </div>
            <Table
              label={t('op.noWorker')}
              rows={stuck.tasks}
              rowKey={(each) => `${each.task_list} ${each.task}`}
              columns={[
                { id: 'task', head: t('op.task'), cell: (each) => <code>{each.task}</code> },
                { id: 'list', head: t('op.queue'), cell: (each) => <code>{each.task_list}</code> },
                { id: 'n', head: t('op.waiting'), right: true, cell: (each) => each.count ?? each.number ?? '' },
              ]}
            />
          </section>
        ) : null}
      </PageBody>
    </>
  )
}

/** Does it to each run; what one of them refuses holds no other, and is told with what was done. */
async function toEach(runs: string[], action: string, done: (n: number) => string): Promise<void> {
  const ends = await Promise.allSettled(runs.map((run) => post(`${at`/api/runs/${run}`}/${action}`)))
  const refused = ends.flatMap((end): unknown[] => (end.status === 'rejected' ? [end.reason] : []))
  if (refused.length === runs.length) throw refused[0]
  toast({ kind: refused.length > 0 ? 'warn' : 'ok', title: done(runs.length - refused.length), ...(refused.length > 0 ? { detail: t('op.notThese', { n: refused.length, why: sentence(refused[0]) }), lasts: 10_000 } : {}) })
}

const failedBy = (cause: Cause): boolean => cause.kind === 'failed' || cause.kind === 'poison'

function headline(cause: Cause): string {
  const n = cause.items.length
  if (cause.kind === 'stalled') return t('op.stalled', { n })
  if (failedBy(cause)) return t('op.failed', { n })
  if (cause.kind === 'unreadable') return t('op.unreadable', { n })
  return t('op.setAside', { n })
}

/** What workflows are called, by their names. */
function useTitles(): ReadonlyMap<string, string> {
  const items = useWorkflows().data?.items
  return useMemo(() => new Map(items?.map((each) => [each.name, each.title ?? each.name])), [items])
}

function CausePart({ cause }: { cause: Cause }) {
  const [open, setOpen] = useState(cause.items.length <= 3)
  const titles = useTitles()
  const said = useDraft(cause.workflow ?? '', cause.step !== null && titles.has(cause.workflow ?? '')).data?.definition as unknown as Said | undefined
  const runs = cause.items.flatMap((each) => (each.run ? [each.run] : []))
  const { operates } = useRights()
  const can = (action: string) => operates && cause.items.every((each) => each.actions.includes(action))
  const every = (action: 'retry' | 'cancel' | 'fail', title: string, done: (n: number) => string) => undoable({ title, work: () => toEach(runs, action, done), keys: [['incidents'], ['runs']] })
  return (
    <section className="border-b border-line px-6 py-3 max-[719px]:px-4">
      <div className="row flex-wrap items-start">
        <span className={`mt-0.5 ${failedBy(cause) ? 'bad' : 'warn'}`}>
          <Icon name={failedBy(cause) ? 'failed' : 'warning'} />
        </span>
        <div className="min-w-0 flex-1 basis-[260px]">
          <b>{headline(cause)}</b>
          <div className="mut t12 [overflow-wrap:anywhere]">
            {cause.workflow ? (
              <Link to="/app/workflows/$name" params={{ name: cause.workflow }}>
                <bdi>{titles.get(cause.workflow) ?? cause.workflow}</bdi>
              </Link>
            ) : null}
            {cause.step ? `: ${t('why.named', { name: titleOf(said, cause.step) })}` : ''} <bdi>{cause.said}</bdi>
          </div>
          <div className="cap">
            {t('op.first')} <Time at={cause.since} as="ago" />
          </div>
        </div>
        <div className="row flex-wrap">
          {can('retry') ? (
            <Button kind="primary" icon="again" onClick={() => every('retry', t('ru.do.retry', { n: runs.length }), (n) => t('op.retried', { n }))}>
              {t('ru.do.retry', { n: runs.length })}
            </Button>
          ) : null}
          {can('fail') ? (
            <Button onClick={() => every('fail', t('undo.fail', { n: runs.length }), (n) => t('op.failedThem', { n }))}>
              {t('op.letFail')}
            </Button>
          ) : null}
          {can('cancel') ? (
            <Button kind="danger" onClick={() => every('cancel', t('ru.do.cancel', { n: runs.length }), (n) => t('op.canceled', { n }))}>
              {t('ru.do.cancel', { n: runs.length })}
            </Button>
          ) : null}
          <Button kind="ghost" aria-expanded={open} icon={open ? 'down' : 'right'} onClick={() => setOpen(!open)}>
            {t('op.runsOf', { n: runs.length })}
          </Button>
        </div>
      </div>
      {open ? (
        <ul className="mt-2 ms-6">
          {cause.items.slice(0, 100).map((each) => (
            <RunLine key={`${each.run}${each.at}`} run={each.run} subject={each.subject} at={each.at} step={cause.step} skip={operates && each.actions.includes('skip')} repair={operates && each.actions.includes('repair')} />
          ))}
        </ul>
      ) : null}
    </section>
  )
}

function RunLine({ run, subject, at: moment, step, skip, repair }: { run: string | null; subject?: string | null; at: string; step: string | null; skip: boolean; repair: boolean }) {
  const [skipping, setSkipping] = useState(false)
  if (!run) return null
  return (
    <li className="row t12 min-h-8 flex-wrap border-t border-line py-1 first:border-t-0">
      <Link className="ell grow min-h-6" to="/app/runs/$id" params={{ id: run }}>
        <bdi>{subject ?? run}</bdi>
      </Link>
      <span className="cap">
        <Time at={moment} as="ago" />
      </span>
      {skip && step ? (
        <Button size="s" onClick={() => setSkipping(true)}>
          {t('rp.skip')}
        </Button>
      ) : null}
      {repair ? (
        <Link className="btn sm" to="/app/runs/$id" params={{ id: run }}>
          {t('op.helpOn')}
        </Link>
      ) : null}
      {skipping && step ? <Skipping run={run} step={step} onClose={() => setSkipping(false)} /> : null}
    </li>
  )
}

function Skipping({ run: id, step, onClose }: { run: string; step: string; onClose: () => void }) {
  const run = useRun(id).data
  const said = useVersion(run?.workflow ?? '', run?.version).data?.definition as unknown as Said | undefined
  return run ? <SkipDialog run={run} said={said} step={step} onClose={onClose} /> : null
}

/** A message that could not be read has no key and starts nothing: to deliver it again would be refused again. */
function deliverable({ key, data }: Undelivered): boolean {
  return Object.keys(key).length > 0 || (typeof data === 'object' && data !== null && 'start_key' in data)
}

function UndeliveredPart({ items }: { items: Undelivered[] }) {
  const { busy, act } = useActing([['undelivered'], ['incidents']])
  const { operates } = useRights()
  return (
    <section id="undelivered">
      <div className="sect">
        <h2>{t('op.undelivered')}</h2>
        <span className="cap">{items.length}</span>
      </div>
      <Table
        label={t('op.undelivered')}
        rows={items}
        rowKey={(each) => String(each.id)}
        columns={[
          { id: 'event', head: t('rp.event'), cell: (each) => <EventPill name={each.event} outside /> },
          { id: 'key', head: t('ru.f.key'), cell: (each) => <code>{Object.entries(each.key).map(([name, value]) => `${name} = ${value}`).join(', ')}</code> },
          { id: 'data', head: t('rp.data'), cell: (each) => <code>{short(each.data, 40)}</code> },
          { id: 'at', head: t('op.came'), cell: (each) => <Time at={each.at} as="ago" /> },
          { id: 'until', head: t('op.keptUntil'), cell: (each) => <Time at={each.until} as="date" /> },
          {
            id: 'do',
            head: '',
            right: true,
            cell: (each) =>
              operates && deliverable(each) ? (
                <Button size="s" busy={busy} onClick={() => void act(() => post(at`/api/events/undelivered/${each.id}/redeliver`), t('op.redelivered'))}>
                  {t('op.redeliver')}
                </Button>
              ) : null,
          },
        ]}
      />
    </section>
  )
}
