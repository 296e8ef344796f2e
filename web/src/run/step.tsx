/** One step of a run: where it stands, what it took and gave, and what can be done to it. */
import { at as path, post } from '@/api/client'
import type { MarkingAt } from '@/api/operations'
import type { Entry, Run } from '@/api/types'
import { May } from '@/app/may'
import { t } from '@/messages'
import { Button, EventPill, IconButton, StatusChip, Time } from '@/ui'
import { CopyButton, Json, jsonText } from '@/ui/json'
import { useActing } from './acting'
import { Decide } from './decide'
import { type Said, asksPeople, titleOf } from './facts'
import { errorReason } from './reasons'
import { standing } from './tell'
import { entriesUntil, stepAt } from './then'
import type { Helping } from './why'
import { ENDED } from './why'

interface StepProps {
  run: Run
  step: string
  entries: Entry[]
  now: MarkingAt | undefined
  /** Of the moment that is looked at. */
  then: MarkingAt | undefined
  /** The entry that is looked at; null: now. */
  at: number | null
  said: Said | undefined
  help: Helping
  onClose: () => void
  onRerun: (step: string) => void
}

export function StepPanel({ run, step, entries, now, then, at, said, help, onClose, onRerun }: StepProps) {
  const latest = run.steps[step]
  if (!latest) return null
  const state = stepAt(latest, step, entries, then, at)
  const marking = at === null ? now : then?.seq === at ? then : undefined
  const slots = marking?.slots.filter((slot) => slot.step === step) ?? []
  const known = entriesUntil(entries, at)
  const begun = known.findLast((entry) => entry.kind === 'fired' && entry.step === step)
  const consumed = ((begun?.data as { consumed?: number[] } | null)?.consumed ?? []).flatMap((number) => entries.find((entry) => entry.seq === number) ?? [])
  return (
    <>
      <div className="sec">
        <div className="row">
          <h2 className="grow ell" title={titleOf(said, step)}>
            <bdi>{titleOf(said, step)}</bdi>
          </h2>
          <IconButton icon="cross" size="s" label={t('act.close')} onClick={onClose} />
        </div>
        <div className="row mt-1.5 flex-wrap">
          <StatusChip of="step" status={state.status} text={state.status === 'running' && asksPeople(said, step) ? t('step.asks') : undefined} />
          {state.firings > 1 ? <span className="tag">×{state.firings}</span> : null}
          {state.attempts > 1 ? <span className="tag">{t('rp.h.attempts', { n: state.attempts })}</span> : null}
          {state.elements ? <span className="tag">{t('rp.elements', { done: state.elements.done, total: state.elements.total })}</span> : null}
        </div>
        {state.reason ? <div className="mut t12 mt-1">{standing(state.reason)}</div> : null}
        {state.error ? (
          <div className="bad t12 mt-1 overflow-hidden [overflow-wrap:anywhere]">
            <bdi>{errorReason(state.error)}</bdi>
          </div>
        ) : null}
      </div>
      {at === null ? (
        <StepActs run={run} step={step} said={said} help={help} onRerun={onRerun} />
      ) : (
        <div className="sec">
          <div className="t12 mut">{t('rp.thenDo')}</div>
        </div>
      )}
      {slots.some((slot) => slot.events.length > 0) ? (
        <div className="sec">
          <h3>{t('rp.waitingHere')}</h3>
          <div className="col items-start gap-1.5">
            {slots.flatMap((slot) => slot.events.slice(0, 20).map((event) => <EventPill key={`${slot.slot} ${event.number}`} name={event.event} here />))}
          </div>
        </div>
      ) : null}
      {consumed.length > 0 ? (
        <div className="sec">
          <h3>
            {t('rp.took')} <CopyButton text={() => jsonText(Object.fromEntries(consumed.map((entry) => [entry.event ?? '', entry.data])))} />
          </h3>
          {consumed.map((entry) => (
            <div key={entry.seq} className="mb-2">
              <div className="row t11 mut mb-1">
                <EventPill name={entry.event ?? ''} here /> <Time at={entry.at} as="time" dated />
              </div>
              <Json value={entry.data} />
            </div>
          ))}
        </div>
      ) : null}
      <div className="sec">
        <h3>
          {state.error ? t('rp.error') : t('rp.output')} <CopyButton text={() => jsonText(state.error ?? state.output)} />
        </h3>
        <Json value={state.error ?? state.output} />
      </div>
    </>
  )
}

/** What can be done to a step now. */
function StepActs({ run, step, said, help, onRerun }: Pick<StepProps, 'run' | 'step' | 'said' | 'help' | 'onRerun'>) {
  const state = run.steps[step]
  const ended = ENDED.has(run.status)
  const { busy, act } = useActing([['run', run.id], ['runs']])
  const disabled = state?.status === 'disabled' || state?.reason === 'disabled'
  const setDisabled = (next: boolean) => void act(() => post(path`/api/runs/${run.id}/steps/${step}`, { disabled: next }), t(next ? 'rp.disabled' : 'rp.enabled', { step: titleOf(said, step) }))
  return (
    <May what="operates">
      <div className="sec">
        <h3>{t('rp.canDo')}</h3>
        <div className="col gap-1.5">
          <Decide run={run} said={said} step={step} />
          {run.status === 'failed' && state?.status === 'failed' ? (
            <Button icon="again" onClick={() => help.retry(step)}>
              {t('rp.retry')}
            </Button>
          ) : null}
          <Button icon="runs" onClick={() => onRerun(step)}>
            {t('rp.rerunFromHere')}
          </Button>
          {ended && run.status !== 'failed' ? null : (
            <Button icon="forward" onClick={() => help.skip(step)}>
              {t('rp.skip')}
            </Button>
          )}
          {ended ? null : (
            <>
              <Button icon="disabled" busy={busy} onClick={() => setDisabled(!disabled)}>
                {disabled ? t('rp.enable') : t('rp.disable')}
              </Button>
              <Button icon="link" onClick={help.move}>
                {t('rp.moveButton')}
              </Button>
            </>
          )}
        </div>
      </div>
    </May>
  )
}
