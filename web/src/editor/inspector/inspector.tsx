/** What is selected, as a form: a step, an event, several things; the workflow itself where nothing is. */
import '../../styles/sides.css'
import { useEffect } from 'react'
import { type Definition, type Group, externalName, externalsOf, firedBy, isReserved, portsOf, slotsOf, titleOf } from '@/diagram/definition'
import { t } from '@/messages'
import { Button, Icon } from '@/ui'
import { foldGroup, groupSelected, noteAt, removeSelected, renameEventAsk, toggleDisabled } from '../acts'
import { addExternal, setGroup } from '../document'
import { edit, select, useEditor } from '../store'
import { loadPinned } from '../try/sample'
import { useCanvas } from '../view'
import { TextValue } from './fields'
import { Pill, Section } from './parts'
import { StepInspector } from './step'
import { OutsideEvent, WorkflowInspector } from './workflow'

export default function Inspector() {
  const definition = useEditor((state) => state.definition)
  const selection = useEditor((state) => state.selection)
  const name = useEditor((state) => state.name)
  const published = useEditor((state) => state.published !== null)
  useEffect(() => {
    void loadPinned(name, useEditor.getState().definition, published)
  }, [name, published])
  const [id, ...more] = selection
  return <div className="min-h-0 flex-1 overflow-auto">{id === undefined ? <WorkflowInspector /> : more.length > 0 ? <Several n={selection.length} /> : <One key={id} id={id} definition={definition} />}</div>
}

function One({ id, definition }: { id: string; definition: Definition }) {
  const drawn = useCanvas()
  const step = definition.steps[id]
  if (step) return <StepInspector name={id} step={step} />
  const group = id.startsWith('group:') ? definition.view?.groups?.[id.slice(6)] : undefined
  if (group) return <GroupInspector id={id} group={group} definition={definition} />
  const note = id.startsWith('note:') ? definition.view?.notes?.[id.slice(5)] : undefined
  if (note) return <NoteInspector id={id.slice(5)} text={note.text} />
  const view = drawn?.graph
  if (id.startsWith('wire:')) {
    const wire = [...(view?.wires ?? []), ...(drawn?.shown.wires ?? [])].find((each) => each.id === id.slice(5))
    return wire ? <EventInspector event={wire.event} definition={definition} /> : <WorkflowInspector />
  }
  const box = view?.boxes.find((each) => each.id === id)
  if (box?.kind === 'outside') {
    return (
      <Section title={t('diagram.outside')}>
        <div className="col gap-[5px]">
          {(definition.external ?? [])
            .filter((each) => box.events.includes(externalName(each)))
            .map((each) => (
              <OutsideEvent key={externalName(each)} external={each} opened={box.events.length === 1} />
            ))}
        </div>
      </Section>
    )
  }
  if (box?.kind === 'unfired' || box?.kind === 'unused') return <EventInspector event={box.event} definition={definition} />
  return <WorkflowInspector />
}

/** A group: what it is called, what is in it, and whether it is drawn as one box. */
function GroupInspector({ id, group, definition }: { id: string; group: Group; definition: Definition }) {
  return (
    <>
      <div className="sec">
        <div className="row mb-2.5">
          <Icon name="grid" />
          <b className="ell">{group.title}</b>
        </div>
        <div className="t12 mut mb-1">{t('inspector.groupTitle')}</div>
        <TextValue label={t('inspector.groupTitle')} value={group.title} onChange={(title) => title && edit(t('did.rename'), setGroup(id.slice(6), { ...group, title }))} />
        <div className="row flex-wrap mt-2.5">
          <Button size="s" icon={group.folded ? 'right' : 'down'} onClick={() => foldGroup(id)}>
            {t(group.folded ? 'inspector.unfold' : 'inspector.fold')}
          </Button>
          <Button size="s" icon="cross" onClick={removeSelected}>
            {t('inspector.ungroup')}
          </Button>
        </div>
      </div>
      <Section title={t('inspector.groupSteps')}>
        <div className="col gap-1.5">
          {group.steps
            .filter((step) => definition.steps[step])
            .map((step) => (
              <button key={step} type="button" className="row t12 text-start" onClick={() => select(step)}>
                <bdi className="grow">{titleOf(step, definition.steps[step])}</bdi>
              </button>
            ))}
        </div>
      </Section>
    </>
  )
}

/** An event: who fires it, who waits for it, and whether it comes from outside. */
function EventInspector({ event, definition }: { event: string; definition: Definition }) {
  const offers = useEditor((state) => state.offers)
  const fired = Object.entries(definition.steps).flatMap(([name, step]) => portsOf(step, offers).filter((port) => firedBy(name, step, port).includes(event)).map((port) => ({ name, port })))
  const waiting = Object.entries(definition.steps).filter(([, step]) => slotsOf(step).some((slot) => slot.events.includes(event)))
  const external = (definition.external ?? []).find((each) => externalName(each) === event)
  const line = (name: string, more: string) => (
    <button key={name + more} type="button" className="row t12 text-start" onClick={() => select(name)}>
      <bdi className="grow">{titleOf(name, definition.steps[name])}</bdi>
      <span className="cap">{more}</span>
    </button>
  )
  return (
    <>
      <div className="sec">
        <div className="row">
          <Pill name={event} />
          <span className="grow" />
          {isReserved(event) || definition.steps[event] ? null : (
            <Button size="s" onClick={() => renameEventAsk(event)}>
              {t('inspector.renameEvent')}
            </Button>
          )}
        </div>
        <div className="cap mt-1">{t('inspector.event')}</div>
      </div>
      <Section title={t('inspector.firedBy')}>
        <div className="col gap-1.5">{fired.length > 0 ? fired.map(({ name, port }) => line(name, port)) : <span className="t12 mut">{external ? t('inspector.fromOutside') : event === 'START' ? t('inspector.byRun') : t('inspector.byNobody')}</span>}</div>
      </Section>
      <Section title={t('inspector.waitedBy')}>
        <div className="col gap-1.5">{waiting.length > 0 ? waiting.map(([name]) => line(name, '')) : <span className="t12 mut">{t('inspector.byNobody')}</span>}</div>
      </Section>
      {external ? (
        <Section title={t('diagram.outside')}>
          <OutsideEvent external={external} opened />
        </Section>
      ) : isReserved(event) || externalsOf(definition).includes(event) || fired.length > 0 || definition.steps[event] ? null : (
        <div className="sec">
          <Button size="s" icon="outside" onClick={() => edit(t('did.outside'), addExternal(event))}>
            {t('fix.external', { event })}
          </Button>
        </div>
      )}
    </>
  )
}

/** A note: what it says. */
function NoteInspector({ id, text }: { id: string; text: string }) {
  return (
    <div className="sec">
      <div className="row">
        <Icon name="sticky" />
        <b>{t('palette.note')}</b>
      </div>
      <p className="t12 mt-2 whitespace-pre-wrap wrap-anywhere">
        <bdi>{text}</bdi>
      </p>
      <div className="row mt-2.5">
        <Button size="s" icon="edit" onClick={() => noteAt(undefined, id)}>
          {t('inspector.noteEdit')}
        </Button>
        <Button size="s" icon="trash" onClick={removeSelected}>
          {t('act.remove')}
        </Button>
      </div>
    </div>
  )
}

function Several({ n }: { n: number }) {
  return (
    <div className="sec">
      <div className="row">
        <Icon name="grid" />
        <b>{t('inspector.several', { n })}</b>
      </div>
      <div className="row flex-wrap mt-2.5">
        <Button size="s" icon="grid" onClick={groupSelected}>
          {t('inspector.group')}
        </Button>
        <Button size="s" icon="disabled" onClick={toggleDisabled}>
          {t('inspector.disableAll')}
        </Button>
        <Button size="s" icon="trash" onClick={removeSelected}>
          {t('act.remove')}
        </Button>
      </div>
    </div>
  )
}
