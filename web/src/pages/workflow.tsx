import { Link, useParams } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { type Stats, type StepStats, useStats } from '@/api/operations'
import { useDraft, useRuns, useVersion } from '@/api/queries'
import { useRights } from '@/api/rights'
import type { Draft } from '@/api/types'
import { useTitle } from '@/app/heading'
import { LooksOn, May } from '@/app/may'
import { Missing } from '@/app/missing'
import { type Definition, Diagram } from '@/diagram'
import { t, want } from '@/messages'
import { Button, Chip, Loaded, Seal, Segments, StatusChip, Table, Tabs, Time, durationText, verdictText } from '@/ui'
import { heatOf, useOffers } from '@/run/drawing'
import { type Said, stepsOf, titleOf } from '@/run/facts'
import StartDialog from '@/runs/start'
import { LifeButtons } from '@/workflows/acts'
import { goodShare, percent, startedBy } from '@/workflows/card'
import { DiscardMenu } from '@/workflows/discard'
import { useVerdicts } from '@/workflows/verdict'
import { VersionsTab } from '@/workflows/versions'

want('pages')

export default function WorkflowPage() {
  const { name } = useParams({ strict: false }) as { name: string }
  return <Loaded query={useDraft(name)} missing={<Missing title={t('wf.missing', { name })} detail={t('wf.missingDetail')} to="/app/workflows" back={t('wf.allWorkflows')} />}>{(draft) => <Whole key={name} draft={draft} />}</Loaded>
}

const PERIODS = ['1h', '24h', '7d', '30d'] as const
type Heat = 'none' | 'count' | 'time' | 'failures'

function Whole({ draft }: { draft: Draft }) {
  const { name } = draft
  useTitle(draft.title ?? name)
  const published = useVersion(name, draft.published_version ?? undefined).data
  const definition = (published?.definition ?? draft.definition) as unknown as Definition
  const said = definition as Said
  const offers = useOffers()
  const [period, setPeriod] = useState<(typeof PERIODS)[number]>('24h')
  const [heat, setHeat] = useState<Heat>('count')
  const [tab, setTab] = useState('diagram')
  const [starting, setStarting] = useState(false)
  const stats = useStats(name, period, draft.published_version !== null).data
  const warm = useMemo(() => (stats && heat !== 'none' ? heatOf(stats, heat) : undefined), [stats, heat])
  const verdicts = useVerdicts(draft)
  const { authors } = useRights()
  return (
    <div className="col h-full min-h-0">
      <header className="runhead">
        <nav className="crumbs" aria-label={t('rp.path')}>
          <Link to="/app/workflows">{t('nav.workflows')}</Link>
          <span>/</span>
          <span className="mono ell">
            <bdi>{name}</bdi>
          </span>
        </nav>
        <div className="row mt-1 flex-wrap gap-x-3 gap-y-1.5">
          <h1 className="ell min-w-0 max-w-full">
            <bdi>{draft.title ?? name}</bdi>
          </h1>
          {verdicts.seal ? <Seal verdict={verdicts.seal} /> : null}
          {draft.published_version === null ? <Chip>{t('wf.draft')}</Chip> : <Chip>v{draft.published_version}</Chip>}
          {draft.changed && draft.published_version !== null ? <Chip>{verdicts.draft ? t('wf.draftSaid', { verdict: verdictText(verdicts.draft) }) : t('wf.draftNote')}</Chip> : null}
          {draft.paused ? <StatusChip status="paused" /> : draft.started ? <StatusChip status="running" text={t('wf.started')} /> : draft.published_version === null ? null : <StatusChip status="canceled" text={t('wf.stoppedWord')} />}
          <span className="t12 mut">{startedBy(said)}</span>
          <div className="row ms-auto flex-wrap justify-end gap-x-3 gap-y-1.5 max-[719px]:ms-0 max-[719px]:justify-start">
            {draft.published_version === null ? null : <LifeButtons name={name} started={draft.started} paused={draft.paused} />}
            <Link className="btn" to="/app/workflows/$name/edit" params={{ name }}>
              {t(authors ? 'wf.edit' : 'wf.look')}
            </Link>
            <LooksOn />
            <May what="operates">
              <Button kind="primary" icon="play" disabled={draft.published_version === null} onClick={() => setStarting(true)}>
                {t('ru.start')}
              </Button>
            </May>
            <May what="authors">
              <DiscardMenu draft={draft} />
            </May>
          </div>
        </div>
      </header>
      <Tabs
        label={t('wf.parts')}
        value={tab}
        onChange={setTab}
        aside={
          tab === 'diagram' ? (
            <span className="row wide-only">
              <Segments size="s" label={t('wf.heat')} value={heat} choices={(['none', 'count', 'time', 'failures'] as const).map((each) => ({ value: each, label: t(`wf.heat.${each}`) }))} onChange={setHeat} />
              <Segments size="s" label={t('ho.period')} value={period} choices={PERIODS.map((each) => ({ value: each, label: t(`ho.p.${each}`) }))} onChange={setPeriod} />
            </span>
          ) : undefined
        }
        tabs={[
          {
            id: 'diagram',
            label: t('wf.diagram'),
            content: (
              <div className="col h-full min-h-0">
                <div className="min-h-[300px] flex-1">
                  <Diagram definition={definition} offers={offers} heat={warm} />
                </div>
                {stats ? <Figures stats={stats} said={said} /> : null}
              </div>
            ),
          },
          { id: 'versions', label: t('wf.versions'), content: <VersionsTab name={name} /> },
          { id: 'runs', label: t('nav.runs'), content: <Runs name={name} /> },
        ]}
      />
      {starting ? <StartDialog workflow={name} onClose={() => setStarting(false)} /> : null}
    </div>
  )
}

interface Row {
  step: string
  of: StepStats | undefined
}

function Figures({ stats, said }: { stats: Stats; said: Said }) {
  const { calls } = stats
  const { statuses } = stats.runs
  const ended = (statuses.succeeded ?? 0) + (statuses.failed ?? 0) + (statuses.canceled ?? 0) + (statuses.timed_out ?? 0)
  const good = goodShare(statuses.succeeded ?? 0, ended)
  const rows = stepsOf(said).map((step): Row => ({ step, of: stats.steps[step] }))
  const time = (seconds: number | undefined) => (seconds === undefined ? '–' : durationText(seconds * 1000))
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: arrow keys scroll only what has the focus
    <section className="max-h-[40%] flex-none overflow-auto border-t border-line" tabIndex={0} aria-label={t('wf.statistics')}>
      <div className="sect flex-wrap">
        <h2>{t('wf.statistics')}</h2>
        <span className="cap">{t('wf.statsAbout', { n: stats.runs.started, sampled: stats.sampled.runs })}</span>
        {good === null ? null : <span className="t12">{t('wf.statsGood', { share: percent(good) })}</span>}
        {stats.runs.seconds ? <span className="t12">{t('wf.statsTime', { p50: time(stats.runs.seconds.p50), p95: time(stats.runs.seconds.p95) })}</span> : null}
        {calls ? (
          <span className="cap">
            {t('wf.statsCalls', { n: calls.count })} <Time at={calls.since} />, {t('wf.statsTime', { p50: time(calls.seconds.p50), p95: time(calls.seconds.p95) })}
          </span>
        ) : null}
      </div>
      <Table
        label={t('wf.statistics')}
        rows={rows}
        rowKey={(row) => row.step}
        columns={[
          { id: 'step', head: t('rp.step'), cell: (row) => <bdi>{titleOf(said, row.step)}</bdi> },
          { id: 'n', head: t('wf.firings'), right: true, cell: (row) => row.of?.firings ?? 0 },
          ...(calls ? [{ id: 'calls', head: t('wf.inCalls'), right: true, cell: (row: Row) => calls.steps[row.step]?.firings ?? 0 }] : []),
          { id: 'failed', head: t('run.failed'), right: true, cell: (row) => <span className={row.of?.failed ? 'bad font-[600]' : ''}>{row.of?.failed ?? 0}</span> },
          { id: 'retries', head: t('wf.retries'), right: true, cell: (row) => row.of?.retries ?? 0 },
          { id: 'w50', head: t('wf.waitTypical'), right: true, cell: (row) => time(row.of?.waiting?.p50) },
          { id: 'w95', head: t('wf.waitSlow'), right: true, cell: (row) => time(row.of?.waiting?.p95) },
          { id: 'r50', head: t('wf.runTypical'), right: true, cell: (row) => time(row.of?.running?.p50) },
          { id: 'r95', head: t('wf.runSlow'), right: true, cell: (row) => time(row.of?.running?.p95) },
        ]}
      />
    </section>
  )
}

function Runs({ name }: { name: string }) {
  const runs = useRuns({ workflow: name, limit: 20 })
  return (
    <Loaded query={runs}>
      {(page) => (
        <>
          <Table
            label={t('nav.runs')}
            rows={page.items}
            rowKey={(line) => line.id}
            columns={[
              { id: 'subject', head: t('ru.subject'), cell: (line) => <Link className="font-[600]" to="/app/runs/$id" params={{ id: line.id }}><bdi>{line.subject ?? line.id}</bdi></Link> },
              { id: 'version', head: t('rp.version'), cell: (line) => `v${line.version}` },
              { id: 'status', head: t('ru.status'), cell: (line) => <StatusChip status={line.status} /> },
              { id: 'at', head: t('ru.started'), right: true, cell: (line) => <Time at={line.started_at} as="ago" /> },
            ]}
          />
          <div className="p-3 text-center">
            <Link className="btn" to="/app/runs" search={{ workflow: name }}>
              {t('wf.allRuns')}
            </Link>
          </div>
        </>
      )}
    </Loaded>
  )
}
