import { Link, useParams } from '@tanstack/react-router'
import { useEffect, useMemo, useState } from 'react'
import { at as path, post } from '@/api/client'
import { useChildren, useLogs, useMarkingAt, useStats, useWhyRun } from '@/api/operations'
import { useDraft, useRun, useVersion } from '@/api/queries'
import { useRights } from '@/api/rights'
import type { LogLine, Run } from '@/api/types'
import { useTitle } from '@/app/heading'
import { Missing } from '@/app/missing'
import type { Definition } from '@/diagram'
import { t, want } from '@/messages'
import { useActing } from '@/run/acting'
import { AuditTab } from '@/run/audit'
import { DataPanel, DataTab } from '@/run/data'
import { useRunCommands } from '@/run/commands'
import { CancelDialog, FireDialog, RerunDialog, SkipDialog } from '@/run/dialogs'
import { Drawing, type Shown } from '@/run/drawing'
import { type Said, shareOf, startsRuns } from '@/run/facts'
import { RunHead } from '@/run/header'
import { HistoryAside, HistoryTab, type Kinds } from '@/run/history'
import { type LiveRun, type Told, useLiveRun } from '@/run/live'
import { LogsTab } from '@/run/logs'
import { MoveDialog, type Wanted, lackingPlace } from '@/run/move'
import { News } from '@/run/news'
import { StepPanel } from '@/run/step'
import { Legend, TimelineTab } from '@/run/timeline'
import { ENDED, type Helping, PastPanel, WhyPanel } from '@/run/why'
import { Button, Loaded, StatusChip, Tabs, Time, isMissing } from '@/ui'

want('pages')

export default function RunPage() {
  const { id } = useParams({ strict: false }) as { id: string }
  const run = useRun(id)
  const { told, live } = useLiveRun(id)
  const missing = isMissing(run.error)
  useEffect(() => {
    if (missing) live.end() // nothing will ever come
  }, [missing, live])
  return <Loaded query={run} missing={<Missing title={t('rp.none', { id })} detail={t('rp.noneDetail')} to="/app/runs" back={t('rp.allRuns')} />}>{(found) => <Whole key={id} run={found} told={told} live={live} />}</Loaded>
}

const progressOf = (step: string, said: unknown): (readonly [string, number])[] => {
  const share = shareOf(said)
  return share === null ? [] : [[step, share]]
}

const NO_LINES: LogLine[] = []

type Asked = { kind: 'fire'; event?: string } | { kind: 'cancel' } | { kind: 'rerun'; from?: string } | { kind: 'skip'; step: string } | { kind: 'move'; wanted?: Wanted } | null

function Whole({ run, told, live }: { run: Run; told: Told; live: LiveRun }) {
  useTitle(run.subject ?? run.id)
  const { entries, latest } = told
  const definition = useVersion(run.workflow, run.version).data?.definition as unknown as Definition | undefined
  const said = definition as Said | undefined
  const newest = useDraft(run.workflow).data?.published_version
  const [at, setAt] = useState<number | null>(null)
  const [tab, setTab] = useState('timeline')
  const [kinds, setKinds] = useState<Kinds>('all')
  const [shown, setShown] = useState<Shown>('states')
  const [step, setStep] = useState<string | null>(null)
  const [asked, setWanted] = useState<Asked>(null)
  // What is done is done now: whoever looks at another moment is led back to see it.
  const setAsked = (wanted: Asked) => {
    if (wanted) setAt(null)
    setWanted(wanted)
  }
  const why = useWhyRun(run.id).data
  const marking = useMarkingAt(run.id, at ?? undefined).data
  const now = useMarkingAt(run.id).data
  const logs = useLogs(run.id).data ?? NO_LINES
  const stats = useStats(run.workflow, '7d', true).data
  const children = useChildren(run.id, startsRuns(said)).data
  const { act } = useActing([['run', run.id], ['runs'], ['incidents']])
  const ended = ENDED.has(run.status)
  const { operates, administers } = useRights()
  useEffect(() => {
    // A run that was retried lives again, here or in another window.
    if (!ended && told.ended) live.begin()
  }, [ended, told.ended, live])
  useLooks(live, run)
  const help: Helping = {
    fire: (event) => setAsked({ kind: 'fire', event }),
    move: () => setAsked({ kind: 'move', wanted: lackingPlace(now, why) }),
    retry: (which) => {
      setAt(null)
      void act(() => post(path`/api/runs/${run.id}/retry`, which ? { step: which } : {}), t('rp.retried')).then((done) => done && live.begin())
    },
    skip: (which) => setAsked({ kind: 'skip', step: which }),
    resume: () => void act(() => post(path`/api/runs/${run.id}/resume`), t('rp.resumed')),
    rerun: () => setAsked({ kind: 'rerun' }),
  }
  const asks = { fire: () => setAsked({ kind: 'fire' }), cancel: () => setAsked({ kind: 'cancel' }), rerun: (from?: string) => setAsked({ kind: 'rerun', from }), move: help.move, retry: () => help.retry() }
  useRunCommands(asks, ended, run.status === 'failed')
  const progress = useMemo(() => Object.fromEntries((why?.steps ?? []).flatMap((each) => progressOf(each.step, each.progress))), [why])
  const point = { entries, at, onAt: setAt, then: marking }
  const past = at === null ? undefined : entries.find((entry) => entry.seq === at)
  return (
    <div className="runpage col h-full min-h-0">
      <RunHead
        run={run}
        said={said}
        asks={asks}
      >
        {told.state === 'away' && !ended && told.version > 1 ? <span className="cap">{t('rp.streamAway')}</span> : null}
      </RunHead>
      {past ? (
        <div className="past" role="status">
          <span>
            {t('rp.looking')} <Time at={past.at} as="time" dated />.
          </span>
          <Button size="s" onClick={() => setAt(null)}>
            {t('rp.backToNow')}
          </Button>
        </div>
      ) : null}
      <div className="runbody">
        {definition ? (
          <div className="grow flex max-[719px]:h-[280px] max-[719px]:flex-none">
            <Drawing run={run} definition={definition} entries={entries} latest={latest} marking={marking} at={at} progress={progress} stats={stats} shown={shown} onShown={setShown} selected={step} onSelect={setStep} onMove={ended || at !== null || !operates ? undefined : (wanted) => setAsked({ kind: 'move', wanted })} />
          </div>
        ) : (
          <div className="cv grow" />
        )}
        <aside className="why" aria-label={step ? t('rp.step') : t('rp.why')}>
          {step ? <StepPanel run={run} step={step} entries={entries} now={now} then={marking} at={at} said={said} help={help} onClose={() => setStep(null)} onRerun={(from) => setAsked({ kind: 'rerun', from })} /> : past ? <PastPanel at={past.at} marking={marking} said={said} onStep={setStep} /> : <WhyPanel run={run} why={why} marking={now} said={said} help={help} onStep={setStep} />}
          {children && children.items.length > 0 && !step ? (
            <div className="sec">
              <h3>{t('rp.children')}</h3>
              {children.items.map((child) => (
                <div key={child.id} className="row t12">
                  <Link className="grow ell" to="/app/runs/$id" params={{ id: child.id }}>
                    {child.workflow} {child.subject ?? child.id}
                  </Link>
                  <StatusChip bare status={child.status} />
                </div>
              ))}
              {children.next ? (
                <Link className="t12" to="/app/runs" search={{ parent: run.id }}>
                  {t('rp.allChildren')}
                </Link>
              ) : null}
            </div>
          ) : null}
        </aside>
      </div>
      <section className="runpanel" aria-label={t('rp.panel')}>
        <Tabs
          label={t('rp.panel')}
          value={tab}
          onChange={setTab}
          aside={tab === 'timeline' ? <Legend /> : tab === 'history' ? <HistoryAside run={run} entries={entries} kinds={kinds} onKinds={setKinds} /> : undefined}
          tabs={[
            {
              id: 'timeline',
              label: t('rp.timeline'),
              content: (
                <div className="two">
                  <TimelineTab run={run} entries={entries} slots={now?.slots ?? []} standing={why?.steps} said={said} onStep={setStep} at={past?.at} />
                  <DataPanel run={run} {...point} />
                </div>
              ),
            },
            {
              id: 'history',
              label: (
                <>
                  {t('rp.history')} <span className="n">{entries.at(-1)?.seq ?? ''}</span>
                </>
              ),
              content: <HistoryTab entries={entries} kinds={kinds} at={at} onAt={setAt} logs={logs} said={said} />,
            },
            { id: 'data', label: t('rp.dataTags'), content: <DataTab run={run} {...point} /> },
            { id: 'logs', label: t('rp.logs'), content: <LogsTab run={run} logs={logs} said={said} /> },
            ...(administers ? [{ id: 'audit', label: t('rp.audit'), content: <AuditTab id={run.id} /> }] : []),
          ]}
        />
      </section>
      <News latest={latest} />
      <Asks asked={asked} run={run} said={said} newest={newest} onClose={() => setAsked(null)} />
    </div>
  )
}

/** Milliseconds between two looks at what the history does not tell: who has a task, how far it is, what it logs. */
const LOOK = 2_500

/** While tasks wait or run, what is shown of them is asked for every so often; not by a page that nobody sees. */
function useLooks(live: LiveRun, run: Run): void {
  const busy = run.ended_at === null && Object.values(run.steps).some((each) => each.status === 'running' || each.status === 'ready')
  useEffect(() => {
    if (!busy) return
    const timer = setInterval(() => document.visibilityState === 'visible' && live.look(), LOOK)
    return () => clearInterval(timer)
  }, [live, busy])
}

function Asks({ asked, newest, ...asking }: { asked: Asked; run: Run; said: Said | undefined; newest: number | null | undefined; onClose: () => void }) {
  switch (asked?.kind) {
    case 'fire':
      return <FireDialog {...asking} event={asked.event} />
    case 'cancel':
      return <CancelDialog {...asking} />
    case 'rerun':
      return <RerunDialog {...asking} from={asked.from} newest={newest} />
    case 'skip':
      return <SkipDialog {...asking} step={asked.step} />
    case 'move':
      return <MoveDialog {...asking} wanted={asked.wanted} />
    default:
      return null
  }
}
