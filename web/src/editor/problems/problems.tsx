/** What the checks say: a list with fixes, or what was proved in six plain sentences. */
import { useMemo, useState } from 'react'
import type { Finding, Report } from '@/api/types'
import type { Definition } from '@/diagram/definition'
import { playTrace, usePlayer } from '@/diagram/player'
import { t } from '@/messages'
import { Button, EmptyState, Icon, type IconName } from '@/ui'
import { showFinding } from '../shortcuts'
import { isStale, passes, select, useEditor } from '../store'
import { reveal } from '../view'
import { sorted } from './fixes'
import { goodRun } from './play'
import { inWords } from './words'
import { FixButtons, findingText } from './texts'

export default function Problems() {
  const report = useEditor((state) => state.report)
  const definition = useEditor((state) => state.definition)
  const error = useEditor((state) => state.checkError)
  const stale = useEditor(isStale)
  const typed = useEditor((state) => state.typed?.refused === true)
  const findings = useMemo(() => sorted(report?.findings ?? [], definition), [report, definition])
  if (stale) return <EmptyState icon="seal" title={t('problems.stale')} detail={t('problems.staleDetail')} />
  if (typed) return <EmptyState icon="seal" title={t('problems.typed')} detail={t('problems.typedDetail')} />
  if (error && !passes(error)) return <Unreadable />
  if (!report) return Object.keys(definition.steps).length === 0 ? <EmptyState icon="seal" title={t('problems.nothing')} detail={t('problems.nothingDetail')} /> : null
  const list = findings.length > 0 ? <List findings={findings} /> : null
  if (report.verdict === 'refuted') return list
  const worth = findings.some((finding) => finding.severity !== 'info')
  return (
    <>
      {worth ? list : null}
      {report.verdict === 'proved' ? <Proved report={report} definition={definition} /> : <Undecided report={report} />}
      {worth ? null : list}
    </>
  )
}

/** The definition is not one yet: each thing that is wrong, and where. */
function Unreadable() {
  const error = useEditor((state) => state.checkError)
  const definition = useEditor((state) => state.definition)
  if (!error) return null
  const lines = error.errors.length > 0 ? error.errors : [{ path: '', code: error.code, message: error.detail }]
  return (
    <ul aria-label={t('problems.unreadable')}>
      {lines.map((each) => {
        const step = /^\/?steps[./]([^./]+)/.exec(each.path.replace(/\["?([^"\]]+)"?\]/g, '/$1'))?.[1]
        return (
          <li key={`${each.path} ${each.message}`} className="pr">
            <span className="bad">
              <Icon name="error" />
            </span>
            <div>
              <div>{inWords(each.message, definition)}</div>
            </div>
            {step && definition.steps[step] ? (
              <Button
                size="s"
                kind="ghost"
                onClick={() => {
                  select(step)
                  reveal(step)
                }}
              >
                {t('problems.show')}
              </Button>
            ) : (
              <span />
            )}
          </li>
        )
      })}
    </ul>
  )
}

const ICONS: Record<Finding['severity'], { icon: IconName; tint: string }> = { error: { icon: 'error', tint: 'bad' }, warning: { icon: 'warning', tint: 'warn' }, info: { icon: 'note', tint: 'idle' } }

function List({ findings }: { findings: Finding[] }) {
  const [shown, setShown] = useState<string | null>(null)
  const playing = usePlayer((state) => state.title)
  return (
    <ul aria-label={t('problems.list')}>
      {findings.map((finding) => {
        const id = `${finding.code} ${finding.step} ${finding.event} ${finding.message}`
        const { icon, tint } = ICONS[finding.severity]
        const { sentence, hint } = findingText(finding)
        const on = shown === id && (finding.trace.length === 0 || playing === sentence)
        return (
          <li key={id} className={`pr ${on ? 'on' : ''}`} data-code={finding.code}>
            <span className={tint}>
              <Icon name={icon} />
              <span className="sr">{t(`problems.${finding.severity}`)}</span>
            </span>
            <div className="min-w-0 break-words">
              <div>{sentence}</div>
              {hint ? <div className="mut">{hint}</div> : null}
              <div className="row flex-wrap mt-1 empty:hidden">
                <FixButtons finding={finding} />
              </div>
            </div>
            <Button
              size="s"
              kind={on && playing ? 'plain' : 'ghost'}
              icon={on && playing ? 'play' : undefined}
              title={finding.code}
              onClick={() => {
                setShown(id)
                showFinding(finding)
              }}
            >
              {on && playing ? t('problems.playing') : t('problems.show')}
            </Button>
          </li>
        )
      })}
    </ul>
  )
}

const seconds = (value: number): number => (value < 0.1 ? Math.max(0.01, Math.round(value * 100) / 100) : Math.round(value * 10) / 10)

function Proved({ report, definition }: { report: Report; definition: Definition }) {
  const offers = useEditor((state) => state.offers)
  const steps = Object.keys(definition.steps).length
  const agree = !report.findings.some((finding) => finding.code === 'time-outs')
  const sentences: { title: string; detail: string; ok?: boolean }[] = [
    { title: t('proved.end'), detail: definition.endless ? t('proved.endless') : t('proved.endDetail') },
    { title: t('proved.stuck'), detail: t('proved.stuckDetail') },
    { title: t('proved.steps'), detail: t('proved.stepsDetail', { n: steps }) },
    { title: t('proved.piles'), detail: t('proved.pilesDetail') },
    { title: t('proved.fails'), detail: t('proved.failsDetail') },
    { title: agree ? t('proved.times') : t('proved.timesNot'), detail: agree ? t('proved.timesDetail') : t('proved.timesNotDetail'), ok: agree },
  ]
  return (
    <section className="grid grid-cols-[200px_1fr] gap-x-6 p-4" aria-label={t('proved.title')}>
      <div className="border-e border-line pe-4 col gap-1.5">
        <span className="ok bigseal">
          <Icon name="seal" />
        </span>
        <b>{t('proved.title')}</b>
        <p className="t12 mut">{t('proved.detail', { n: report.states, seconds: seconds(report.seconds) })}</p>
        {report.assumes.length > 0 ? <p className="t11 fnt">{t('proved.assumes', { what: report.assumes.join(', ') })}</p> : null}
        <button type="button" className="t12 text-start text-accent mt-1" onClick={() => playTrace(definition, goodRun(definition, offers), t('proved.play'), false)}>
          {t('proved.play')}
        </button>
      </div>
      <ul className="grid grid-cols-2 content-start gap-x-6 gap-y-3.5">
        {sentences.map(({ title, detail, ok = true }) => (
          <li key={title} className="grid grid-cols-[18px_1fr] gap-2 t12">
            <span className={ok ? 'ok' : 'warn'}>
              <Icon name={ok ? 'check' : 'warning'} />
            </span>
            <div>
              <b>{title}</b>
              <div className="mut">{detail}</div>
            </div>
          </li>
        ))}
      </ul>
    </section>
  )
}

function Undecided({ report }: { report: Report }) {
  return <EmptyState icon="note" title={t('problems.undecided', { seconds: seconds(report.seconds) })} detail={t('problems.undecidedDetail', { covered: report.covered })} />
}

