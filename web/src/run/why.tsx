/** Why a run waits: a row a slot, and the actions that would help. */
import type { MarkingAt, Missing, WhyRun, WhyStep } from '@/api/operations'
import type { Run } from '@/api/types'
import { May } from '@/app/may'
import { t } from '@/messages'
import { Button, Icon, Time, agoText, useNow } from '@/ui'
import { type Said, externalsOf, titleOf } from './facts'
import { Decide } from './decide'
import { runReason, stepReason } from './reasons'

export interface Helping {
  fire: (event: string) => void
  move: () => void
  retry: (step?: string) => void
  skip: (step: string) => void
  resume: () => void
  rerun: () => void
}

export const ENDED = new Set(['succeeded', 'failed', 'canceled', 'timed_out'])

const HEADS: Record<string, 'rp.whyStalled' | 'rp.whyFailed' | 'rp.whyEnded' | 'rp.whyRunning' | 'rp.whyPaused'> = {
  stalled: 'rp.whyStalled',
  failed: 'rp.whyFailed',
  timed_out: 'rp.whyFailed',
  succeeded: 'rp.whyEnded',
  canceled: 'rp.whyEnded',
  running: 'rp.whyRunning',
  paused: 'rp.whyPaused',
}

/** What it waited for at another moment: there is nothing to be done there. */
export function PastPanel({ at, marking, said, onStep }: { at: string; marking: MarkingAt | undefined; said: Said | undefined; onStep: (step: string) => void }) {
  const waiting = partly(marking?.slots ?? [])
  return (
    <>
      <div className="sec">
        <h2>{t('rp.whyThen')}</h2>
        <div className="t12 mut mt-[3px]">
          <Time at={at} as="time" dated /> {marking && waiting.length === 0 ? t('rp.thenNothing') : ''}
        </div>
      </div>
      {waiting.map((step) => (
        <JoinPart key={step} why={{ step, reason: 'waiting', missing: [] } as unknown as WhyStep} marking={marking} said={said} onStep={onStep} then={at} />
      ))}
      <div className="sec">
        <div className="t12 mut">{t('rp.thenDo')}</div>
      </div>
    </>
  )
}

/** The steps for which some events were here and others were not. */
export function partly(slots: readonly { step: string; need: number; events: readonly unknown[] }[]): string[] {
  const steps = [...new Set(slots.map((slot) => slot.step))]
  return steps.filter((step) => {
    const own = slots.filter((slot) => slot.step === step)
    return own.some((slot) => slot.events.length > 0) && own.some((slot) => slot.events.length < slot.need)
  })
}

export function WhyPanel({ run, why, marking, said, help, onStep }: { run: Run; why: WhyRun | undefined; marking: MarkingAt | undefined; said: Said | undefined; help: Helping; onStep: (step: string) => void }) {
  const joins = (why?.steps ?? []).filter((each) => each.missing)
  const others = (why?.steps ?? []).filter((each) => !each.missing)
  const waits = run.status === 'waiting' || joins.length > 0
  const head = HEADS[run.status]
  return (
    <>
      <div className="sec">
        <h2>{head && !(run.status === 'running' && waits) ? t(head) : t('rp.why')}</h2>
        <div className="t12 mut mt-[3px]">{why ? runReason(why, run) : ''}</div>
      </div>
      {joins.map((each) => (
        <JoinPart key={each.step} why={each} marking={marking} said={said} onStep={onStep} />
      ))}
      {others.length > 0 ? (
        <div className="sec">
          {others.map((each) => (
            <div key={`${each.step}${each.reason}`} className="wrow">
              <Icon name={each.reason === 'failed' ? 'failed' : each.reason === 'running' ? 'running' : 'waiting'} size="s" className={each.reason === 'failed' ? 'bad' : 'acc'} />
              <div>
                <button type="button" className="cursor-pointer text-start font-[600] hover:underline" onClick={() => onStep(each.step)}>
                  <bdi>{titleOf(said, each.step)}</bdi>
                </button>
                <div className="mut">{stepReason(each)}</div>
              </div>
            </div>
          ))}
        </div>
      ) : null}
      <May what="operates">
        <HelpPart run={run} joins={joins} said={said} help={help} />
      </May>
    </>
  )
}

function JoinPart({ why, marking, said, onStep, then }: { why: WhyStep; marking: MarkingAt | undefined; said: Said | undefined; onStep: (step: string) => void; then?: string }) {
  const ticking = useNow(1000)
  const now = then ? new Date(then).getTime() : ticking
  const slots = marking?.slots.filter((slot) => slot.step === why.step) ?? []
  const here = slots.filter((slot) => slot.events.length >= slot.need).length
  const first = Math.min(...slots.flatMap((slot) => slot.events.map((event) => new Date(event.at).getTime())))
  return (
    <div className="sec">
      <button type="button" className="t12 cursor-pointer text-start font-[600] hover:underline" onClick={() => onStep(why.step)}>
        <bdi>{titleOf(said, why.step)}</bdi>
      </button>
      <div className="t12 mut">
        {t('rp.needs', { n: slots.length, here })}
        {Number.isFinite(first) ? ` ${t('rp.waitsSince', { time: agoText(first, now) })}` : ''}
      </div>
      <div className="mt-1">
        {slots.map((slot) => {
          const full = slot.events.length >= slot.need
          const name = slot.need > 1 ? t('rp.nOf', { n: slot.need, m: slot.takes.length, names: slot.takes.join(', ') }) : slot.takes.join(' | ')
          return (
            <div key={slot.slot} className="wrow">
              <span className={`tok ${full ? '' : slot.events.length > 0 ? 'half' : 'o'}`} />
              <div>
                <b>
                  <bdi>{name}</bdi>
                </b>
                <div className="mut">
                  {slot.events.map((event) => (
                    <div key={event.number}>
                      {slot.need > 1 ? `${event.event} ` : ''}
                      {t('rp.arrived')} <Time at={event.at} as="time" dated />
                    </div>
                  ))}
                  {full ? null : then ? <div>{t('rp.notThen')}</div> : <MissingText why={why} takes={slot.takes.filter((event) => !slot.events.some((each) => each.event === event))} said={said} />}
                </div>
              </div>
            </div>
          )
        })}
      </div>
    </div>
  )
}

function MissingText({ why, takes, said }: { why: WhyStep; takes: string[]; said: Said | undefined }) {
  const declared = externalsOf(said)
  return takes.map((event) => {
    const missing = why.missing?.find((each) => each.event === event) ?? { event, outside: declared.includes(event), steps: [] }
    return <div key={event}>{whence(missing, takes.length > 1, (step) => titleOf(said, step))}</div>
  })
}

/** Where an event that is missing can come from; `named`: it is one of several. */
export function whence({ event, outside, came, steps: [step] }: Missing, named: boolean, title: (step: string) => string): string {
  if (outside) return named ? t('rp.fromOutsideNamed', { event }) : t('rp.fromOutside')
  if (step) return t('rp.fromStep', { step: title(step.step), state: stepWord(step.status) })
  if (came) return named ? t('rp.cameNamed', { event }) : t('rp.came')
  return t('rp.fromNobody')
}

const stepWord = (status: string): string => t(`step.${status}` as 'step.running').toLocaleLowerCase()

function HelpPart({ run, joins, said, help }: { run: Run; joins: WhyStep[]; said: Said | undefined; help: Helping }) {
  const outside = [...new Set([...run.waiting_for.filter((name) => externalsOf(said).includes(name)), ...joins.flatMap((each) => each.missing?.filter((missing) => missing.outside).map((missing) => missing.event) ?? [])])]
  const failed = Object.entries(run.steps).filter(([, step]) => step.status === 'failed')
  const ended = ENDED.has(run.status)
  return (
    <div className="sec">
      <h3>{t('rp.canDo')}</h3>
      <div className="col gap-1.5">
        <Decide run={run} said={said} />
        {run.status === 'paused' ? (
          <Button icon="play" onClick={help.resume}>
            {t('rp.resume')}
          </Button>
        ) : null}
        {run.status === 'failed' ? (
          <Button icon="again" onClick={() => help.retry()}>
            {t('rp.retryAll')}
          </Button>
        ) : null}
        {run.status === 'failed' ? failed.map(([name]) => <StepButton key={name} icon="again" text={t('rp.retryStep', { step: titleOf(said, name) })} onClick={() => help.retry(name)} />) : null}
        {ended ? null : outside.slice(0, 4).map((name) => <StepButton key={name} icon="token" text={t('rp.fireNamed', { event: name })} onClick={() => help.fire(name)} />)}
        {ended ? null : joins.slice(0, 2).map((each) => <StepButton key={each.step} icon="forward" text={t('rp.skipNamed', { step: titleOf(said, each.step) })} onClick={() => help.skip(each.step)} />)}
        {ended ? (
          <Button icon="runs" onClick={help.rerun}>
            {t('rp.rerunAgain')}
          </Button>
        ) : (
          <Button icon="link" onClick={help.move}>
            {t('rp.moveButton')}
          </Button>
        )}
      </div>
    </div>
  )
}

function StepButton({ icon, text, onClick }: { icon: 'again' | 'token' | 'forward'; text: string; onClick: () => void }) {
  return (
    <Button icon={icon} onClick={onClick} title={text}>
      <span className="ell">
        <bdi>{text}</bdi>
      </span>
    </Button>
  )
}
