/** The services of a release: state, progress, and when each was in which state. */
import { useEffect, useRef, useState } from 'react'
import type { Release, ReleaseTask, TaskService } from '@/api/releases'
import { idOf, useTaskServices } from '@/api/releases'
import { language, t } from '@/messages'
import { Button, StatusChip, Table, Time, durationText, useNow } from '@/ui'
import { type Span, isOver, rangeOf, spansOf } from './phases'

export function Tasks({ release }: { release: Release }) {
  const [asTable, setAsTable] = useState(false)
  const services = new Map(useTaskServices().data?.results.map((each) => [each.kf_id, each]))
  const healthy = release.tasks.filter((each) => services.get(idOf(each.task_service))?.health_status === 'ok').length
  return (
    <section className="pt-3.5" aria-label={t('re.services')}>
      <div className="row px-6 pb-1 max-[719px]:px-4">
        <h2>{t('re.services')}</h2>
        {services.size > 0 ? <span className="cap">{t('re.healthy', { n: healthy, of: release.tasks.length })}</span> : null}
        <span className="grow" />
        {release.tasks.length > 0 ? (
          <Button size="s" kind="ghost" onClick={() => setAsTable(!asTable)}>
            {asTable ? t('rp.asDrawing') : t('rp.asTable')}
          </Button>
        ) : null}
      </div>
      {release.tasks.length === 0 ? <p className="mut t12 px-6 py-3">{t('re.noTasks')}</p> : asTable ? <AsTable release={release} /> : <Drawn release={release} services={services} />}
    </section>
  )
}

function Drawn({ release, services }: { release: Release; services: Map<string, TaskService> }) {
  const head = useRef<HTMLTableCellElement>(null)
  const [width, setWidth] = useState(560)
  const over = isOver(release)
  const now = useNow(over ? 3_600_000 : 1000)
  useEffect(() => {
    if (!head.current) return
    const watch = new ResizeObserver(([entry]) => entry && setWidth(Math.max(0, entry.contentRect.width)))
    watch.observe(head.current)
    return () => watch.disconnect()
  }, [])
  const [begin, end] = rangeOf(release, now)
  const span = (end - begin) * (over ? 1.02 : 1.12)
  const x = (moment: number) => ((moment - begin) / span) * width
  const ticks = ticksOf(begin, span, width)
  return (
    <table className="tall rtasks" aria-label={t('re.services')}>
      <thead>
        <tr>
          <th scope="col">{t('re.service')}</th>
          <th scope="col" className="wide-only2">{t('re.task')}</th>
          <th scope="col">{t('re.state')}</th>
          <th scope="col" className="r">{t('re.progress')}</th>
          <th scope="col" className="line wide-only" ref={head}>
            <svg width={width} height="14" className="tline" aria-hidden="true">
              {ticks.map((moment, at) => (
                <text key={moment} className="cap" x={x(moment)} y="11" textAnchor={at === 0 ? 'start' : 'middle'}>
                  {tickText(moment, span)}
                </text>
              ))}
            </svg>
            <span className="sr">{t('re.timeline')}</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {release.tasks.map((task) => (
          <tr key={task.kf_id}>
            <td>
              <b>
                <bdi>{task.service_name}</bdi>
              </b>
              <Health service={services.get(idOf(task.task_service))} />
            </td>
            <td className="mono t11 mut wide-only2">{task.kf_id}</td>
            <td>
              <StatusChip of="release" status={task.state} />
            </td>
            <td className="r">
              <Progress task={task} />
            </td>
            <td className="line wide-only">
              <Line spans={spansOf(task)} x={x} ticks={ticks} end={end} width={width} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function Health({ service }: { service: TaskService | undefined }) {
  if (!service) return <div className="cap">{t('re.removed')}</div>
  return <div className={service.health_status === 'ok' ? 'cap ell max-w-[230px]' : 'warn t11'}>{service.health_status === 'ok' ? <bdi>{service.description}</bdi> : t('re.down')}</div>
}

function Progress({ task }: { task: ReleaseTask }) {
  return (
    <span className="row justify-end gap-2">
      {task.progress > 0 && task.progress < 100 ? <progress className="pgs2" value={task.progress} max={100} aria-hidden="true" /> : null}
      {t('re.percent', { n: task.progress })}
    </span>
  )
}

const THIN = new Set(['waiting', 'initialized'])
const WORK = new Set(['running', 'publishing'])
const BAD = new Set(['failed', 'rejected'])

function Line({ spans, x, ticks, end, width }: { spans: Span[]; x: (moment: number) => number; ticks: number[]; end: number; width: number }) {
  const said = spans.map((each) => `${t(`release.${each.state as 'running'}`)} ${durationText((each.to ?? end) - each.from)}`).join(', ')
  return (
    <svg width={width} height="22" className="tline" role="img" aria-label={said}>
      <title>{said}</title>
      {ticks.map((moment) => (
        <path key={moment} className="rule" d={`M${x(moment)} -12V34`} />
      ))}
      {spans.map((span, at) => (
        <Drawing key={`${span.state}${span.from}`} span={span} next={spans[at + 1]} from={x(span.from)} to={x(span.to ?? end)} end={end} />
      ))}
    </svg>
  )
}

function Drawing({ span, next, from, to, end }: { span: Span; next: Span | undefined; from: number; to: number; end: number }) {
  const wide = Math.max(3, to - from)
  if (THIN.has(span.state)) return <rect x={from + 0.5} y="4.5" width={wide} height="13" rx="1" className="thin" />
  if (WORK.has(span.state)) {
    const tint = !next ? 'acc' : BAD.has(next.state) ? 'bad' : next.state === 'canceled' ? 'idle' : 'ok'
    const text = `${t(`release.${span.state as 'running'}`)}, ${durationText((span.to ?? end) - span.from)}`
    return (
      <g className={`tbar ${tint}`}>
        <rect x={from + 0.5} y="4.5" width={wide} height="13" rx="2" />
        {wide > text.length * 6.2 ? (
          <text x={from + 6} y="15">
            {text}
          </text>
        ) : null}
      </g>
    )
  }
  if (span.state === 'staged' || span.state === 'published')
    return (
      <g>
        {span.state === 'staged' ? <path className="queued" d={`M${from} 11H${to}`} /> : null}
        <circle className={span.state === 'published' ? 'tokn okk' : 'tokn'} cx={from} cy="11" r="4.5" />
      </g>
    )
  return <path className={BAD.has(span.state) ? 'endx bad' : 'endx'} d={`M${from - 3.5} 7.5l7 7m0 -7l-7 7`} />
}

const STEPS = [1, 2, 5, 10, 30, 60, 300, 600, 1800, 3600, 7200, 21_600, 43_200, 86_400].map((seconds) => seconds * 1000)

/** A few round moments. */
export function ticksOf(begin: number, span: number, width: number): number[] {
  const most = Math.max(2, Math.floor(width / 120))
  const step = STEPS.find((each) => span / each <= most) ?? span / most
  return Array.from({ length: Math.floor(span / step) + 1 }, (_, at) => begin + at * step)
}

function tickText(moment: number, span: number): string {
  const long = span > 86_400_000
  return new Intl.DateTimeFormat(language(), { ...(long ? { day: 'numeric', month: 'short' } : {}), hour: '2-digit', minute: '2-digit', hourCycle: 'h23', ...(span < 600_000 ? { second: '2-digit' } : {}) }).format(moment)
}

function AsTable({ release }: { release: Release }) {
  const rows = release.tasks.flatMap((task) => spansOf(task).map((span) => ({ key: `${task.kf_id} ${span.state} ${span.from}`, name: task.service_name, ...span })))
  return (
    <Table
      label={t('re.timeline')}
      rows={rows}
      rowKey={(row) => row.key}
      columns={[
        { id: 'name', head: t('re.service'), cell: (row) => <bdi>{row.name}</bdi> },
        { id: 'state', head: t('re.state'), cell: (row) => <StatusChip bare of="release" status={row.state} /> },
        { id: 'from', head: t('rp.from'), cell: (row) => <Time at={new Date(row.from).toISOString()} as="time" dated /> },
        { id: 'to', head: t('rp.until'), cell: (row) => (row.to === null ? t('rp.now') : <Time at={new Date(row.to).toISOString()} as="time" dated />) },
        { id: 'long', head: t('rp.lasted'), right: true, cell: (row) => durationText((row.to ?? Date.now()) - row.from) },
      ]}
    />
  )
}
