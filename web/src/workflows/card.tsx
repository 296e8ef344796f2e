/** A workflow as a card: seal, name, version, what runs, how it is started, how it does. */
import { Link } from '@tanstack/react-router'
import type { Pulse } from '@/api/operations'
import { useDraft } from '@/api/queries'
import type { WorkflowLine } from '@/api/types'
import { language, t } from '@/messages'
import { Icon, StatusChip, type Verdict, durationText, verdictText } from '@/ui'
import { Spark } from '@/ui/charts'
import type { Said } from '@/run/facts'
import { clockText } from './clock'
import { useVerdicts } from './verdict'

export const LIVE = ['running', 'waiting', 'paused', 'stalled']
export const liveOf = (line: WorkflowLine): number => LIVE.reduce((sum, status) => sum + (line.runs[status] ?? 0), 0)

export const sum = (values: number[]): number => values.reduce((total, each) => total + each, 0)

/** Fewer points of the same line, each the sum of some. */
export function fewer(values: number[], most: number): number[] {
  if (values.length <= most) return values
  const each = Math.ceil(values.length / most)
  return Array.from({ length: Math.ceil(values.length / each) }, (_, at) => sum(values.slice(at * each, (at + 1) * each)))
}

const KINDS = ['api', 'manual', 'schedule', 'object', 'search', 'webhook', 'topic'] as const

/** How runs are started, in words. */
export function startedBy(said: Said | undefined): string {
  const source = said?.source ?? { kind: 'api' }
  const kind = (KINDS as readonly string[]).includes(source.kind ?? '') ? (source.kind as (typeof KINDS)[number]) : 'api'
  if (kind === 'schedule') return clockText(source.cron as string | undefined, source.every === undefined ? undefined : String(source.every))
  return t(`wf.by.${kind}`, { what: source.topic ? String(source.topic) : [source.store, source.prefix].filter(Boolean).join('/') })
}

export const percent = (part: number): string => new Intl.NumberFormat(language(), { style: 'percent', maximumFractionDigits: 1 }).format(part)

/** Which part of the runs that ended succeeded: one that was canceled did not. Null where none ended. */
export const goodShare = (succeeded: number, ended: number): number | null => (ended > 0 ? succeeded / ended : null)

export interface Figures {
  perDay: number | null
  good: number | null
  typical: number | null
  line: number[]
}

/** How a workflow does; nothing is said of it before the figures are there. */
export function figuresOf(pulse: Pick<Pulse, 'workflows'> | undefined, name: string, hours: number): Figures {
  const lines = pulse?.workflows[name]
  const ended = sum(lines?.ended ?? [])
  return {
    perDay: pulse ? (ended * 24) / hours : null,
    good: goodShare(sum(lines?.succeeded ?? []), ended),
    typical: lines?.typical ?? null,
    line: fewer(lines?.ended ?? [], 28),
  }
}

export const perDayText = (value: number | null): string => (value === null ? '–' : new Intl.NumberFormat(language(), { maximumFractionDigits: value < 10 ? 1 : 0 }).format(value))

export function WorkflowCard({ line, pulse, hours }: { line: WorkflowLine; pulse: Pulse | undefined; hours: number }) {
  const draft = useDraft(line.name).data
  const verdicts = useVerdicts(draft)
  const figures = figuresOf(pulse, line.name, hours)
  const live = liveOf(line)
  const bad = figures.good !== null && figures.good < 0.9
  return (
    <article className="card wcard">
      <div className="row">
        <SealMark verdict={verdicts.seal} />
        <h2 className="ell min-w-0">
          <Link to="/app/workflows/$name" params={{ name: line.name }}>
            <bdi>{line.title ?? line.name}</bdi>
          </Link>
        </h2>
        <span className="cap nw">{line.published_version === null ? t('wf.draft') : `v${line.published_version}`}</span>
        <span className="grow" />
        {line.paused ? (
          <StatusChip bare status="paused" />
        ) : live > 0 ? (
          <span className="row gap-1.5 text-12" title={t('wf.live', { n: live })}>
            <span className="tok" />
            {live}
            <span className="sr">{t('wf.live', { n: live })}</span>
          </span>
        ) : null}
      </div>
      <div className="cap ms-[25px]">
        {line.published_version === null ? t('wf.notPublished') : line.started ? (draft ? startedBy(draft.definition as unknown as Said) : '…') : t('wf.stopped')}
        {verdicts.draft?.kind === 'refuted' ? <span className="bad"> · {t('wf.draftSaid', { verdict: verdictText(verdicts.draft) })}</span> : null}
      </div>
      <div className="nums">
        <span>
          <span className="cap">{t('wf.perDay')}</span>
          {perDayText(figures.perDay)}
        </span>
        <span>
          <span className="cap">{t('wf.succeeded')}</span>
          {figures.good === null ? (pulse ? t('wf.noneYet') : '–') : <span className={bad ? 'bad font-[600]' : ''}>{percent(figures.good)}</span>}
        </span>
        <span>
          <span className="cap">{t('wf.typical')}</span>
          {figures.typical === null ? '–' : durationText(figures.typical * 1000)}
        </span>
        <span className="grow" />
        {figures.line.some((each) => each > 0) ? <Spark values={figures.line} tint={bad ? 'bad' : 'accent'} label={t('wf.sparkLabel', { n: sum(figures.line) })} /> : null}
      </div>
    </article>
  )
}

export function SealMark({ verdict }: { verdict: Verdict | null }) {
  if (!verdict) return <span className="inline-block w-[17px]" />
  const look = verdict.kind === 'proved' ? (verdict.warnings > 0 ? { tint: 'warn', icon: 'sealbad' as const } : { tint: 'ok', icon: 'seal' as const }) : verdict.kind === 'refuted' ? { tint: 'bad', icon: 'sealbad' as const } : { tint: 'idle', icon: 'note' as const }
  const text = verdictText(verdict)
  return (
    <span className={look.tint} title={text}>
      <Icon name={look.icon} />
      <span className="sr">{text}</span>
    </span>
  )
}
