/** What a step waits for: all, either, or some of its events. */
import { type Slot, type Step, externalsOf, slotsOf, startsAtOnce } from '@/diagram/definition'
import { t } from '@/messages'
import { Icon, IconButton, Segments } from '@/ui'
import { tellLoose } from '../acts'
import { type Edit, modeOf, setMode, setSlots, waitFor, waitNoMore } from '../document'
import { edit, findingsOf, useEditor } from '../store'
import { NumberValue } from './fields'
import { AddEvent, Findings, Pill, RemoveButton, Section } from './parts'

export function Waits({ name, step }: { name: string; step: Step }) {
  const slots = slotsOf(step)
  const mode = modeOf(slots)
  const single = slots[0] as Slot
  const choose = (next: 'all' | 'either' | 'some') => edit(t('inspector.did.waits'), setMode(name, next, Math.max(1, Math.min(2, single.events.length))))
  return (
    <Section
      title={t('inspector.waits')}
      aside={
        <Segments
          size="s"
          label={t('inspector.waitsHow')}
          value={mode}
          choices={[
            { value: 'all', label: t('inspector.all') },
            { value: 'either', label: t('inspector.either') },
            { value: 'some', label: t('inspector.some') },
          ]}
          onChange={choose}
        />
      }
    >
      <div className="col gap-[5px]">
        {mode === 'all'
          ? slots.map((slot, at) => <SlotLine key={slot.events.join('|')} name={name} slots={slots} slot={slot} at={at} />)
          : single.events.map((event, at) => <EventLine key={event} name={name} event={event} onUp={at > 0 ? () => edit(t('inspector.did.waits'), setSlots(name, [{ ...single, events: moved(single.events, at) }])) : undefined} />)}
        {startsAtOnce(step) ? <p className="t12 mut">{t('inspector.atOnce')}</p> : null}
        {mode === 'some' ? (
          <div className="row t12">
            <span className="mut">{t('inspector.need')}</span>
            <span className="w-14">
              <NumberValue label={t('inspector.needOf', { of: single.events.length })} value={single.need} onChange={(need) => edit(t('inspector.did.waits'), setMode(name, 'some', Number(need) || 1))} />
            </span>
            <span className="mut">{t('inspector.of', { of: single.events.length })}</span>
          </div>
        ) : null}
        {mode === 'some' ? (
          <label className="row t12" title={t('inspector.keepRestAbout')}>
            <input type="checkbox" className="chkbox" checked={single.rest === 'keep'} onChange={(event) => edit(t('inspector.did.waits'), setSlots(name, [{ ...single, rest: event.target.checked ? 'keep' : undefined }]))} />
            {t('inspector.keepRest')}
          </label>
        ) : null}
        <AddEvent label={t('inspector.addEvent')} waiting onAdd={(event) => edit(t('inspector.did.waits'), waitFor(name, event, mode === 'all' ? 'all' : { slot: 0 }))} />
      </div>
      <Findings step={name} part="waits" />
    </Section>
  )
}

/** Takes an event away; where it was the last, that is told. */
function remove(change: Edit): void {
  edit(t('inspector.did.waits'), change, tellLoose)
}

/** The same with one moved before the one above it. */
function moved<T>(list: T[], at: number): T[] {
  const made = [...list]
  const [one] = made.splice(at, 1)
  made.splice(at - 1, 0, one as T)
  return made
}

function EventLine({ name, event, onUp }: { name: string; event: string; onUp?: () => void }) {
  const bad = useEditor((state) => findingsOf(state).some((finding) => finding.severity === 'error' && finding.step === name && (finding.event === event || (finding.code === 'fail-without-failure' && event === 'START'))))
  return (
    <div className="row evline">
      <Pill name={event} bad={bad} />
      <span className="grow" />
      {onUp ? <IconButton icon="down" size="s" className="up" label={t('inspector.up', { event })} onClick={onUp} /> : null}
      <RemoveButton label={t('inspector.waitNoMore', { event })} onClick={() => remove(waitNoMore(name, event))} />
    </div>
  )
}

function SlotLine({ name, slots, slot, at }: { name: string; slots: Slot[]; slot: Slot; at: number }) {
  const outside = useEditor((state) => slot.events.every((event) => externalsOf(state.definition).includes(event)))
  const up = at > 0 ? () => edit(t('inspector.did.waits'), setSlots(name, moved(slots, at))) : undefined
  if (slot.kind === 'one') return <EventLine name={name} event={slot.events[0] as string} onUp={up} />
  const text = slot.kind === 'some' ? t(outside ? 'inspector.firstOutside' : 'inspector.first', { need: slot.need, of: slot.events.length }) : t('inspector.eitherOf')
  return (
    <div className="slotbox">
      <div className="row cap">
        <Icon name={outside ? 'outside' : 'branch'} size="s" />
        <span className="grow">{text}</span>
        <RemoveButton label={t('inspector.removeSlot')} onClick={() => remove(setSlots(name, slots.filter((_each, index) => index !== at)))} />
      </div>
      <div className="row flex-wrap gap-1.5 mt-1">
        {slot.events.map((event) => (
          <Pill key={event} name={event} />
        ))}
      </div>
    </div>
  )
}
