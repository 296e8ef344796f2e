import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { HOURS, type Pulse, useIncidents, usePulse } from '@/api/operations'
import { useWorkflows } from '@/api/queries'
import { PageBody, PageHead } from '@/app/heading'
import { May } from '@/app/may'
import { part } from '@/app/part'
import { language, t } from '@/messages'
import { Button, Loaded, Segments, Table, Time, durationText } from '@/ui'
import { Chart } from '@/ui/charts'
import { Attention } from '@/operate/attention'
import { causesOf } from '@/operate/causes'
import { WorkflowCard, liveOf, sum } from '@/workflows/card'

const EmptyPage = part(() => import('./empty'))
const PERIODS = ['1h', '24h', '7d'] as const
type Shown = (typeof PERIODS)[number]
const SHOWN = 6

export default function HomePage() {
  const navigate = useNavigate()
  const workflows = useWorkflows()
  const [period, setPeriod] = useState<Shown>('24h')
  const asked = usePulse(period)
  const pulse = asked.data
  return (
    <Loaded query={workflows}>
      {(found) => {
        if (found.items.length === 0) return <EmptyPage />
        const busy = [...found.items].sort((one, two) => weight(two.name, pulse) - weight(one.name, pulse) || liveOf(two) - liveOf(one))
        return (
          <>
            <PageHead title={t('nav.home')}>
              <Segments label={t('ho.period')} value={period} choices={PERIODS.map((each) => ({ value: each, label: t(`ho.p.${each}`) }))} onChange={setPeriod} />
              <May what="authors">
                <Button icon="plus" onClick={() => void navigate({ to: '/app/new' })}>
                  {t('ho.new')}
                </Button>
              </May>
            </PageHead>
            <PageBody label={t('nav.home')}>
              <Loaded query={asked} lines={3}>
                {(figures) => <Figures pulse={figures} period={period} />}
              </Loaded>
              <Attention well={pulse ? t(`ho.allWell.${period}`, { n: sum(pulse.ended) }) : ''} />
              <div className="sect">
                <h2>{t('nav.workflows')}</h2>
                <span className="cap">{t('ho.busiest', { n: Math.min(SHOWN, busy.length), of: busy.length })}</span>
                <span className="grow" />
                <Link className="t12" to="/app/workflows">
                  {t('ho.allWorkflows')}
                </Link>
              </div>
              <div className="cards">
                {busy.slice(0, SHOWN).map((line) => (
                  <WorkflowCard key={line.name} line={line} pulse={pulse} hours={HOURS[period] ?? 24} />
                ))}
              </div>
              {busy.length > SHOWN ? (
                <ul className="row flex-wrap px-6 pb-6" aria-label={t('ho.otherWorkflows')}>
                  {busy.slice(SHOWN).map((line) => (
                    <li key={line.name}>
                      <Link className="tag min-h-6" to="/app/workflows/$name" params={{ name: line.name }}>
                        <bdi>{line.title ?? line.name}</bdi>
                      </Link>
                    </li>
                  ))}
                </ul>
              ) : null}
            </PageBody>
          </>
        )
      }}
    </Loaded>
  )
}

const weight = (name: string, pulse: Pulse | undefined): number => sum(pulse?.workflows[name]?.ended ?? [])
const number = (value: number): string => new Intl.NumberFormat(language(), { maximumFractionDigits: value < 10 ? 1 : 0 }).format(value)
const milliseconds = (seconds: number | null | undefined): number | null => (seconds == null ? null : seconds * 1000)

function Figures({ pulse, period }: { pulse: Pulse; period: Shown }) {
  const [asTable, setAsTable] = useState(false)
  return (
    <>
      {asTable ? <FigureTable pulse={pulse} /> : <Tiles pulse={pulse} period={period} />}
      <Button size="s" kind="ghost" className="mx-4 mt-1" onClick={() => setAsTable(!asTable)}>
        {t(asTable ? 'rp.asDrawing' : 'rp.asTable')}
      </Button>
    </>
  )
}

function Tiles({ pulse, period }: { pulse: Pulse; period: Shown }) {
  const causes = causesOf((useIncidents().data?.items ?? []).filter((each) => each.kind === 'failed'))
  const ended = sum(pulse.ended)
  const failed = sum(pulse.failed)
  const begin = new Intl.DateTimeFormat(language(), period === '7d' ? { day: 'numeric', month: 'short' } : { hour: '2-digit', minute: '2-digit', hourCycle: 'h23', ...(period === '24h' ? { weekday: 'short' } : {}) }).format(new Date(pulse.from))
  const each = t('ho.per', { time: durationText(pulse.seconds * 1000) })
  const axis = { begin, end: t('rp.now') }
  const spread = pulse.start ?? null
  const biggest = causes[0]?.items.length ?? 0
  return (
    <section className="tiles" aria-label={t('ho.figures')}>
      <div>
        <TileHead title={t('ho.ended')} aside={each} />
        <div className="figure">
          {number(ended)} <small>{t(`ho.in.${period}`)}</small>
        </div>
        <div className="mt-2">
          <Chart values={pulse.ended} {...axis} figure={number} label={t('ho.endedLabel', { n: ended })} />
        </div>
      </div>
      <div>
        <TileHead title={t('ho.toStart')} aside="ms" />
        <div className="figure">
          {spread ? number(spread.p50 * 1000) : '–'} <small>{spread ? t('ho.toStartMore', { slow: number(spread.p95 * 1000) }) : t('ho.toStartNone')}</small>
        </div>
        <div className="mt-2">
          <Chart values={pulse.starts.map((one) => milliseconds(one?.p50))} upper={pulse.starts.map((one) => milliseconds(one?.p95))} {...axis} figure={number} label={spread ? t('ho.toStartLabel', { typical: number(spread.p50 * 1000), slow: number(spread.p95 * 1000) }) : t('ho.toStartNone')} />
        </div>
      </div>
      <div>
        <TileHead title={t('ho.failed')} aside={each} />
        <div className="figure">
          {number(failed)} <small>{biggest > 1 && failed > 0 ? t('ho.oneCause', { n: biggest }) : t(`ho.in.${period}`)}</small>
        </div>
        <div className="mt-2">
          <Chart bars tint="bad" values={pulse.failed} {...axis} figure={number} label={t('ho.failedLabel', { n: failed })} />
        </div>
      </div>
    </section>
  )
}

/** The same figures for who does not see charts; times in which nothing happened are left out. */
function FigureTable({ pulse }: { pulse: Pulse }) {
  const begin = new Date(pulse.from).getTime()
  const rows = pulse.ended
    .map((ended, at) => ({ at: new Date(begin + at * pulse.seconds * 1000).toISOString(), ended, failed: pulse.failed[at] ?? 0, start: pulse.starts[at] ?? null }))
    .filter((row) => row.ended > 0 || row.failed > 0 || row.start !== null)
    .reverse()
  const ms = (seconds: number | undefined): string => (seconds === undefined ? '–' : `${number(seconds * 1000)} ms`)
  return (
    <Table
      label={t('ho.figures')}
      rows={rows}
      rowKey={(row) => row.at}
      columns={[
        { id: 'at', head: t('ho.from'), cell: (row) => <Time at={row.at} as="minute" dated /> },
        { id: 'ended', head: t('ho.ended'), right: true, cell: (row) => number(row.ended) },
        { id: 'start', head: t('ho.toStart'), right: true, cell: (row) => ms(row.start?.p50) },
        { id: 'slow', head: t('ho.slow'), right: true, cell: (row) => ms(row.start?.p95) },
        { id: 'failed', head: t('ho.failed'), right: true, cell: (row) => number(row.failed) },
      ]}
    />
  )
}

function TileHead({ title, aside }: { title: string; aside: string }) {
  return (
    <div className="row">
      <h2 className="t12 mut grow font-[400]">{title}</h2>
      <span className="cap">{aside}</span>
    </div>
  )
}
