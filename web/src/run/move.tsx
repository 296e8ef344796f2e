/** Moving a token: from a slot, or from nowhere, to a slot. Nothing is sent before the preview was seen and a reason given. */
import { useEffect, useState } from 'react'
import { ApiError, at, patch } from '@/api/client'
import { type MarkingAt, type Slot, type WhyRun, useMarkingAt } from '@/api/operations'
import { cache } from '@/api/queries'
import type { Repaired, Run } from '@/api/types'
import { t } from '@/messages'
import { Button, Dialog, EventPill, Field, Icon, Select, TextInput } from '@/ui'
import { Refused } from './dialogs'
import { sentence } from './acting'
import { type Said, titleOf } from './facts'
import { toast } from '@/ui/toasts'
import { ENDED } from './why'

export interface Place {
  step: string
  slot: number
  event: string
}

/** A move that somebody began with the mouse. */
export interface Wanted {
  from?: { step: string; slot: number; number: number }
  to?: Place
}

interface Preview {
  /** The history entry up to which the run was looked at: the move is made on that and on nothing else. */
  of: number
  status: Repaired['status']
  will_fire: string[]
  outlook?: Repaired['outlook']
  again: boolean
}

const NOWHERE = 'nowhere'
/** Nothing was chosen yet. */
const OPEN = ''

/** Where an event lacks that a join waits for, first one that has others already: what a stuck run is most often mended by. */
export function lackingPlace(marking: MarkingAt | undefined, why: WhyRun | undefined): Wanted | undefined {
  const slots = marking?.slots ?? []
  const joins = (why?.steps ?? []).filter((each) => each.missing).map((each) => each.step)
  const begun = (step: string): number => Number(!slots.some((each) => each.step === step && each.events.length > 0))
  const [slot] = slots.filter((each) => each.events.length < each.need && joins.includes(each.step)).sort((one, two) => begun(one.step) - begun(two.step) || joins.indexOf(one.step) - joins.indexOf(two.step))
  const event = slot?.takes.find((each) => !slot.events.some((here) => here.event === each))
  return slot && event !== undefined ? { to: { step: slot.step, slot: slot.slot, event } } : undefined
}
const placeKey = (place: Place) => JSON.stringify([place.step, place.slot, place.event])

export function MoveDialog({ run, said, wanted, onClose }: { run: Run; said: Said | undefined; wanted?: Wanted; onClose: () => void }) {
  const marking = useMarkingAt(run.id).data
  const [from, setFrom] = useState(wanted?.from ? JSON.stringify([wanted.from.step, wanted.from.slot, wanted.from.number]) : NOWHERE)
  const [to, setTo] = useState(wanted?.to ? placeKey(wanted.to) : OPEN)
  const [reason, setReason] = useState('')
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<string | null>(null)
  const [preview, setPreview] = useState<Preview | null>(null)
  const body = bodyOf(marking, from, to)
  const asked = body ? JSON.stringify(body) : ''

  const seq = marking?.seq
  // biome-ignore lint/correctness/useExhaustiveDependencies: another move has another preview
  useEffect(() => {
    setPreview(null)
    setError(null)
  }, [asked])
  useEffect(() => {
    if (!asked || seq === undefined) return
    let gone = false
    void look(run.id, JSON.parse(asked), seq).then(
      (seen) => gone || setPreview((before) => ({ ...seen, again: before !== null && (before.again || differ(before, seen)) })),
      (failed) => gone || (isChanged(failed) ? void lookAnew(run.id) : setError(sentence(failed))),
    )
    return () => {
      gone = true
    }
  }, [asked, seq, run.id])

  const move = async () => {
    if (!body || !preview) return
    setBusy(true)
    try {
      await patch(at`/api/runs/${run.id}/marking`, { ...body, expect: preview.of, reason })
      toast({ kind: 'ok', title: preview.will_fire.length > 0 ? t('rp.movedFires', { steps: preview.will_fire.map((each) => titleOf(said, each)).join(', ') }) : t('rp.moved') })
      onClose()
    } catch (failed) {
      const now = isChanged(failed) ? await lookAnew(run.id) : undefined
      const seen = now ? await look(run.id, body, now.seq).catch(() => null) : null
      if (now) setPreview(seen && { ...seen, again: true })
      setError(seen ? null : sentence(failed))
    } finally {
      setBusy(false)
      void cache.invalidateQueries({ queryKey: ['run', run.id] })
    }
  }
  const tokens = (marking?.slots ?? []).flatMap((slot) => slot.events.map((event) => ({ slot, event })))
  const places = (marking?.slots ?? []).flatMap((slot) => slot.takes.map((event) => ({ step: slot.step, slot: slot.slot, event })))
  return (
    <Dialog
      open
      onClose={onClose}
      width={520}
      title={t('rp.move')}
      detail={t('rp.moveDetail')}
      actions={
        <>
          <Button onClick={onClose}>{t('act.leave')}</Button>
          <Button kind="primary" busy={busy} disabled={!preview || !reason.trim()} onClick={() => void move()}>
            {t('rp.moveDo')}
          </Button>
        </>
      }
    >
      <div className="col gap-3">
        <Field label={t('rp.moveFrom')}>
          {(ids) => (
            <Select
              {...ids}
              label={t('rp.moveFrom')}
              value={from}
              onChange={setFrom}
              options={[{ value: NOWHERE, label: t('rp.moveNew') }, ...tokens.map(({ slot, event }) => ({ value: JSON.stringify([slot.step, slot.slot, event.number]), label: t('rp.tokenAt', { event: event.event, step: titleOf(said, slot.step) }) }))]}
            />
          )}
        </Field>
        <Field label={t('rp.moveTo')}>
          {(ids) => <Select {...ids} label={t('rp.moveTo')} placeholder={t('rp.moveChoose')} value={to === NOWHERE && from === NOWHERE ? OPEN : to} onChange={setTo} options={[...(from === NOWHERE ? [] : [{ value: NOWHERE, label: t('rp.moveAway') }]), ...places.map((place) => ({ value: placeKey(place), label: t('rp.tokenTo', { event: place.event, step: titleOf(said, place.step) }) }))]} />}
        </Field>
        {error ? null : <PreviewPart preview={preview} marking={marking} said={said} to={to} from={from} />}
        <Field label={t('rp.reason')} aside={t('form.required')} hint={t('rp.reasonKept')}>
          {(ids) => <TextInput {...ids} value={reason} onChange={(event) => setReason(event.target.value)} />}
        </Field>
      </div>
      <Refused error={error} />
    </Dialog>
  )
}

const look = async (run: string, body: object, of: number): Promise<Omit<Preview, 'again'>> => ({ ...(await patch<Repaired>(at`/api/runs/${run}/marking`, { ...body, expect: of, dry_run: true })), of })

/** The run has moved on since it was looked at. */
const isChanged = (error: unknown): boolean => error instanceof ApiError && error.code === 'changed'

async function lookAnew(run: string): Promise<MarkingAt | undefined> {
  const queryKey = ['run', run, 'marking', 'now']
  await cache.refetchQueries({ queryKey })
  return cache.getQueryData<MarkingAt>(queryKey)
}

/** Whether two previews say something else. */
const differ = (one: Omit<Preview, 'again'>, two: Omit<Preview, 'again'>): boolean => JSON.stringify([one.will_fire, one.outlook, one.status]) !== JSON.stringify([two.will_fire, two.outlook, two.status])

function bodyOf(marking: MarkingAt | undefined, from: string, to: string): { put: object[]; take: object[] } | null {
  if (!marking || to === OPEN || (from === NOWHERE && to === NOWHERE)) return null
  const taken = from === NOWHERE ? null : (JSON.parse(from) as [string, number, number])
  const put = to === NOWHERE || to === OPEN ? null : (JSON.parse(to) as [string, number, string])
  const event = taken ? marking.slots.find((slot) => slot.step === taken[0] && slot.slot === taken[1])?.events.find((each) => each.number === taken[2]) : undefined
  return {
    take: taken ? [{ step: taken[0], slot: taken[1], number: taken[2] }] : [],
    put: put ? [{ step: put[0], slot: put[1], event: put[2], data: event?.data ?? null }] : [],
  }
}

/** What will begin, and what still waits. */
function PreviewPart({ preview, marking, said, to, from }: { preview: Preview | null; marking: MarkingAt | undefined; said: Said | undefined; to: string; from: string }) {
  if (!preview || !marking) return <div className="card fnt t12 p-3">{t('rp.previewFirst')}</div>
  const still = stillWaiting(marking, to, from).filter((each) => !preview.will_fire.includes(each.step))
  return (
    <div className="card col t12 gap-2 p-3" role="status" aria-label={t('rp.preview')}>
      {preview.again ? <b className="warn">{t('rp.previewAgain')}</b> : null}
      <div className="row">
        <span className={preview.will_fire.length > 0 ? 'acc' : 'fnt'}>
          <Icon name={preview.will_fire.length > 0 ? 'running' : 'note'} size="s" />
        </span>
        {preview.will_fire.length > 0 ? t('rp.willFire', { steps: preview.will_fire.map((each) => t('why.named', { name: titleOf(said, each) })).join(', ') }) : t('rp.willFireNone')}
      </div>
      {still.map((each) => (
        <div key={each.step} className="row flex-wrap">
          <span className="mut">{t('rp.stillWaits', { step: titleOf(said, each.step) })}</span>
          {each.missing.map((name) => (
            <EventPill key={name} name={name} />
          ))}
        </div>
      ))}
      {preview.outlook ? <OutlookLine outlook={preview.outlook} status={preview.status} said={said} /> : null}
    </div>
  )
}

const OUTLOOKS = { ended: { icon: 'check', tint: 'ok' }, ends: { icon: 'seal', tint: 'ok' }, may_stall: { icon: 'warning', tint: 'warn' }, stalls: { icon: 'sealbad', tint: 'bad' }, unknown: { icon: 'note', tint: 'fnt' } } as const

/** Whether the run can still reach its end afterwards, as the server has proved it; or how it ends by the move itself. */
function OutlookLine({ outlook, status, said }: { outlook: NonNullable<Repaired['outlook']>; status: Repaired['status']; said: Said | undefined }) {
  const look = outlook.verdict === 'ended' && status !== 'succeeded' ? OUTLOOKS.may_stall : OUTLOOKS[outlook.verdict]
  const waits = Object.entries(outlook.starving).map(([step, events]) => t('rp.wouldWait', { step: titleOf(said, step), events: events.map((name) => t('why.named', { name })).join(', ') }))
  return (
    <div className="row items-start!">
      <span className={look.tint}>
        <Icon name={look.icon} size="s" />
      </span>
      <span>{outlook.verdict === 'ended' ? t(ENDED.has(status) ? 'rp.outlook.ended' : 'rp.outlook.ending', { status: t(`run.${status}`) }) : [t(`rp.outlook.${outlook.verdict}`), ...(outlook.verdict === 'unknown' ? [] : waits)].join(' ')}</span>
    </div>
  )
}

/** Joins that hold something after the move and lack something else. */
export function stillWaiting(marking: MarkingAt, to: string, from: string): { step: string; missing: string[] }[] {
  const taken = from === NOWHERE ? null : (JSON.parse(from) as [string, number, number])
  const put = to === NOWHERE || to === OPEN ? null : (JSON.parse(to) as [string, number, string])
  const held = (slot: Slot): number => {
    const here = slot.events.filter((event) => !(taken && taken[0] === slot.step && taken[1] === slot.slot && taken[2] === event.number)).length
    return here + (put && put[0] === slot.step && put[1] === slot.slot ? 1 : 0)
  }
  const steps = [...new Set(marking.slots.map((slot) => slot.step))]
  return steps.flatMap((step) => {
    const slots = marking.slots.filter((slot) => slot.step === step)
    const lacking = slots.filter((slot) => held(slot) < slot.need)
    return slots.some((slot) => held(slot) > 0) && lacking.length > 0 ? [{ step, missing: lacking.map((slot) => slot.takes.join(' | ')) }] : []
  })
}
