/** The timeline: rows follow the drawing; attempts, pauses, joins and what came from outside, each in its own way. */
import { useEffect, useMemo, useRef, useState } from 'react'
import type { Slot } from '@/api/operations'
import type { Entry, Run } from '@/api/types'
import { language, t } from '@/messages'
import { Button, Icon, STEP_LOOKS, Table, Time, durationText, timeText } from '@/ui'
import { type Said, externalsOf, stepsOf, titleOf } from './facts'
import { type Bar, type Row, type Standing, timeline } from './spans'
import { ENDED } from './why'

const LEFT = 168
const RIGHT = 84
const HIGH = 27
const TINTS: Record<Bar['outcome'], string> = { ok: 'ok', failed: 'bad', timed_out: 'bad', running: 'acc', withdrawn: 'idle' }
/** Rows of a run that is drawn whole; more are in the table. */
const ROWS = 200
const BARS = 60
const DAY = 86_400_000

export function Legend() {
  return (
    <span className="row t11 mut wide-only gap-3">
      <span className="row gap-[5px]">
        <svg width="16" height="10" className="tline" aria-hidden="true">
          <path d="M0 5h16" className="queued" />
        </svg>
        {t('rp.legendQueued')}
      </span>
      <span className="row gap-[5px]">
        <svg width="16" height="10" className="tline" aria-hidden="true">
          <g className="tbar ok">
            <rect x=".5" y=".5" width="15" height="9" rx="2" />
          </g>
        </svg>
        {t('rp.legendAttempt')}
      </span>
      <span className="row gap-[5px]">
        <svg width="16" height="10" aria-hidden="true">
          <rect width="16" height="10" fill="url(#hatch)" />
        </svg>
        {t('rp.legendJoin')}
      </span>
      <span className="row gap-[5px]">
        <span className="tok" />
        {t('rp.legendEvent')}
      </span>
    </span>
  )
}

export function TimelineTab({ run, entries, slots, standing, said, onStep, at }: { run: Run; entries: Entry[]; slots: Slot[]; standing: readonly Standing[] | undefined; said: Said | undefined; onStep: (step: string) => void; at?: string }) {
  const [asTable, setAsTable] = useState(false)
  const rows = useMemo(() => timeline(entries, stepsOf(said), slots, externalsOf(said), standing, run.waiting_for), [entries, slots, said, standing, run.waiting_for])
  return (
    <div className="px-6 pt-2.5 pb-4 max-[719px]:px-4">
      {asTable ? <AsTable rows={rows} said={said} /> : <Drawn rows={rows.slice(0, ROWS)} run={run} latest={entries.at(-1)?.at} said={said} onStep={onStep} then={at} />}
      {!asTable && rows.length > ROWS ? <p className="cap mt-2">{t('rp.rowsMore', { n: ROWS, of: rows.length })}</p> : null}
      <Button size="s" kind="ghost" className="mt-2" onClick={() => setAsTable(!asTable)}>
        {asTable ? t('rp.asDrawing') : t('rp.asTable')}
      </Button>
    </div>
  )
}

function useWidth(): [React.RefObject<HTMLDivElement | null>, number] {
  const ref = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(900)
  useEffect(() => {
    const element = ref.current
    if (!element) return
    const watch = new ResizeObserver(([entry]) => entry && setWidth(Math.max(320, entry.contentRect.width)))
    watch.observe(element)
    return () => watch.disconnect()
  }, [])
  return [ref, width]
}

function Drawn({ rows, run, latest, said, onStep, then }: { rows: Row[]; run: Run; latest: string | undefined; said: Said | undefined; onStep: (step: string) => void; then?: string }) {
  const [ref, width] = useWidth()
  const ended = ENDED.has(run.status)
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    if (ended) return
    const timer = setInterval(() => setNow(Date.now()), 1000)
    return () => clearInterval(timer)
  }, [ended])
  const begin = new Date(run.started_at).getTime()
  const end = endOf(run, latest, now)
  const span = Math.max(1, end - begin) * (ended ? 1 : 1.18)
  const x = (moment: number) => LEFT + ((moment - begin) / span) * (width - LEFT - RIGHT)
  const bottom = 28 + rows.length * HIGH
  return (
    <div ref={ref}>
      {/* biome-ignore lint/a11y/useSemanticElements: a drawing is no fieldset */}
      <svg className="tline" width={width} height={bottom + 6} role="group" aria-label={t('rp.timelineLabel')}>
        <defs>
          <pattern id="hatch" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
            <path d="M0 0V5" stroke="var(--wire)" strokeWidth="1" />
          </pattern>
        </defs>
        {ticks(begin, span, width).filter((moment) => ended || Math.abs(x(moment) - x(end)) > (span > DAY ? 66 : 46)).map((moment, at) => (
          <g key={moment}>
            <path className="rule" d={`M${x(moment)} 20V${bottom}`} />
            <text className="cap" x={x(moment)} y="12" textAnchor={at === 0 ? 'start' : 'middle'}>
              {tickText(moment, span)}
            </text>
          </g>
        ))}
        {rows.map((row, at) => (
          <DrawnRow key={`${row.kind}${row.name}`} row={row} y={28 + at * HIGH} x={x} end={end} width={width} status={row.kind === 'step' ? (run.steps[row.name]?.status ?? 'blocked') : 'outside'} title={row.kind === 'step' ? titleOf(said, row.name) : row.name} onStep={onStep} />
        ))}
        {then ? <Then at={then} x={x} bottom={bottom} width={width} /> : null}
        {ended || then ? null : (
          <g>
            <path className="nowl" d={`M${x(end)} 18V${bottom}`} />
            <rect className="nowb" x={x(end) - 17} y="0" width="34" height="16" rx="3" />
            <text className="nowt" x={x(end)} y="12" textAnchor="middle">
              {t('rp.now')}
            </text>
          </g>
        )}
      </svg>
    </div>
  )
}

/** Until when it is drawn. What has come is not to come, though the clock of the reader is behind. */
export function endOf(run: Pick<Run, 'started_at' | 'ended_at'>, latest: string | undefined, now: number): number {
  return run.ended_at ? Date.parse(run.ended_at) : Math.max(now, Date.parse(run.started_at) + 1000, latest === undefined ? 0 : Date.parse(latest))
}

/** The moment that is looked at: what came after it is pale. */
function Then({ at, x, bottom, width }: { at: string; x: (moment: number) => number; bottom: number; width: number }) {
  const here = x(new Date(at).getTime())
  const middle = Math.min(width - RIGHT, Math.max(LEFT + 27, here))
  return (
    <g data-then={at}>
      <rect className="veil" x={here} y="18" width={Math.max(0, width - here)} height={bottom - 18} />
      <path className="nowl" d={`M${here} 18V${bottom}`} />
      <rect className="nowb" x={middle - 27} y="0" width="54" height="16" rx="3" />
      <text className="nowt" x={middle} y="12" textAnchor="middle">
        {timeText(at).slice(-8)}
      </text>
    </g>
  )
}

function DrawnRow({ row, y, x, end, width, status, title, onStep }: { row: Row; y: number; x: (moment: number) => number; end: number; width: number; status: string; title: string; onStep: (step: string) => void }) {
  const look = STEP_LOOKS[status]
  const middle = y + 8
  const lasted = row.outside ? (row.outside.to ?? end) - row.outside.from : (row.total ?? sinceFirst(row, end))
  const bars = row.bars.slice(-BARS)
  return (
    <g>
      <foreignObject x="0" y={y - 3} width={LEFT - 8} height="24">
        <button type="button" className="row h-6 w-full gap-2 text-12" disabled={row.kind !== 'step'} onClick={() => onStep(row.name)} title={title}>
          <span className={look?.tint ?? 'fnt'}>
            <Icon name={look?.icon ?? 'outside'} />
          </span>
          <span className="ell">
            <bdi>{title}</bdi>
            {look ? <span className="sr">, {t(look.text)}</span> : null}
          </span>
        </button>
      </foreignObject>
      {row.outside ? (
        <>
          <path className="outside" d={`M${x(row.outside.from)} ${middle}H${x(row.outside.to ?? end)}`} />
          {row.outside.to !== null ? <circle className="tokn" cx={x(row.outside.to)} cy={middle} r="4.5" /> : null}
        </>
      ) : null}
      {row.joins.slice(-BARS).map((join) => (
        <g key={join.from}>
          <rect x={x(join.from)} y={y + 3} width={Math.max(1, x(join.to ?? end) - x(join.from))} height="10" fill="url(#hatch)" opacity=".55" />
          {join.arrivals.map((moment, at) => (
            <circle key={at} className="tokn" cx={x(moment)} cy={middle} r="4.5" />
          ))}
        </g>
      ))}
      {row.pauses.slice(-BARS).map((pause) => (
        <path key={pause.from} className="queued" d={`M${x(pause.from)} ${middle}H${x(Math.min(pause.to ?? end, end))}`} />
      ))}
      {bars.map((bar, at) => (
        <DrawnBar key={at} bar={bar} x={x} y={y} end={end} />
      ))}
      <text className="sum" x={width - 2} y={y + 12} textAnchor="end">
        {lasted === null ? '' : durationText(lasted)}
      </text>
    </g>
  )
}

function DrawnBar({ bar, x, y, end }: { bar: Bar; x: (moment: number) => number; y: number; end: number }) {
  const wide = Math.max(8, x(bar.to ?? end) - x(bar.from))
  const text = wide > 74 && bar.outcome !== 'ok' ? `${bar.attempt} · ${t(`rp.out.${bar.outcome}`)}` : wide > 12 ? String(bar.attempt) : ''
  return (
    <g className={`tbar ${TINTS[bar.outcome]}`}>
      <title>{`${t('rp.attemptN', { n: bar.attempt })}: ${t(`rp.out.${bar.outcome}`)}${bar.said ? `, ${bar.said}` : ''}, ${durationText((bar.to ?? end) - bar.from)}`}</title>
      <rect x={x(bar.from) + 0.5} y={y + 0.5} width={wide - 1} height="15" rx="2" />
      <text x={x(bar.from) + (wide > 74 ? 6 : wide / 2)} y={y + 12} textAnchor={wide > 74 ? 'start' : 'middle'}>
        {text}
      </text>
    </g>
  )
}

const sinceFirst = (row: Row, end: number): number | null => {
  const first = row.bars[0]?.from ?? row.pauses[0]?.from ?? row.joins.at(-1)?.from
  return first === undefined ? null : end - first
}

const STEPS = [1, 5, 10, 30, 60, 300, 600, 1800, 3600, 7200, 21_600, 43_200, 86_400, 604_800].map((seconds) => seconds * 1000)

/** About six round moments. */
export function ticks(begin: number, span: number, width: number): number[] {
  const most = Math.max(2, Math.floor((width - LEFT - RIGHT) / 110))
  const step = STEPS.find((each) => span / each <= most) ?? span / most
  const found: number[] = [begin]
  for (let moment = begin + step; moment <= begin + span; moment += step) found.push(moment)
  return found
}

function tickText(moment: number, span: number): string {
  const long = span > DAY
  return new Intl.DateTimeFormat(language(), long ? { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } : { hour: '2-digit', minute: '2-digit', hourCycle: 'h23', ...(span < 600_000 ? { second: '2-digit' } : {}) }).format(moment)
}

function AsTable({ rows, said }: { rows: Row[]; said: Said | undefined }) {
  const lines = rows.flatMap((row) => [
    ...row.bars.map((bar, at) => ({ key: `${row.name} b${at}`, name: titleOf(said, row.name), what: `${t('rp.attemptN', { n: bar.attempt })}: ${t(`rp.out.${bar.outcome}`)}`, from: bar.from, to: bar.to })),
    ...row.joins.map((join, at) => ({ key: `${row.name} j${at}`, name: titleOf(said, row.name), what: t('rp.legendJoin'), from: join.from, to: join.to })),
    ...row.pauses.map((pause, at) => ({ key: `${row.name} p${at}`, name: titleOf(said, row.name), what: t('rp.legendQueued'), from: pause.from, to: pause.to })),
    ...(row.outside ? [{ key: `${row.name} o`, name: row.name, what: t('rp.fromOutside'), from: row.outside.from, to: row.outside.to }] : []),
  ])
  return (
    <Table
      label={t('rp.timeline')}
      rows={lines}
      rowKey={(line) => line.key}
      columns={[
        { id: 'name', head: t('rp.step'), cell: (line) => <bdi>{line.name}</bdi> },
        { id: 'what', head: t('rp.what'), cell: (line) => line.what },
        { id: 'from', head: t('rp.from'), cell: (line) => <Time at={new Date(line.from).toISOString()} as="time" dated /> },
        { id: 'to', head: t('rp.until'), cell: (line) => (line.to === null ? t('rp.now') : <Time at={new Date(line.to).toISOString()} as="time" dated />) },
        { id: 'long', head: t('rp.lasted'), right: true, cell: (line) => durationText((line.to ?? Date.now()) - line.from) },
      ]}
    />
  )
}
