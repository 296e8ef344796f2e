/** A step as a form; the order of its sections never changes. */
import { useState } from 'react'
import type { Step } from '@/diagram/definition'
import { titleOf } from '@/diagram/definition'
import { iconOf } from '@/diagram/icons'
import { t } from '@/messages'
import { Button, Icon, Menu, Select } from '@/ui'
import { removeSelected, toggleDisabled } from '../acts'
import { copySelected } from '../clips'
import { Condition } from '../conditions/builder'
import { removeCase, renameCase, renameStep, setStep, whyNotName } from '../document'
import { edit, select, useEditor } from '../store'
import { retitling } from '../titles'
import { useTryFrom } from '../try/running'
import { NumberValue, SchemaForm, TextValue } from './fields'
import { Fires } from './fires'
import { Findings, Folding, Section } from './parts'
import { type Kind, type Schema, kindOf, shapeOf } from './schema'
import { Waits } from './waits'
import { Half, type Policy, PolicyFields, QueueFields } from './wrong'

const CEL: ReadonlySet<Kind> = new Set<Kind>(['cel'])

export function StepInspector({ name, step }: { name: string; step: Step }) {
  const offer = useEditor((state) => state.offers[step.task ?? ''])
  const schema = offer?.parameters as Schema | undefined
  const set = (changes: Partial<Step>) => edit(t('inspector.did.settings'), setStep(name, changes))
  const open = !schema || Object.keys(schema.properties ?? {}).length > 0 || schema.additionalProperties !== false || step.with !== undefined
  return (
    <>
      <Head name={name} step={step} doc={offer?.doc ?? ''} />
      <Waits name={name} step={step} />
      {open && !onlyConditions(schema) ? (
        <Section title={t('inspector.settings')} aside={<span className="cap">{schema ? t('inspector.fromSchema') : ''}</span>}>
          <SchemaForm schema={schema} value={step.with} onChange={(next) => set({ with: next as Step['with'] })} without={CEL} title={t('inspector.settings')} />
          <Findings step={name} part="settings" />
        </Section>
      ) : null}
      <Conditions name={name} step={step} schema={schema} />
      <Wrong name={name} step={step} />
      <Fires name={name} step={step} />
      <Running name={name} step={step} />
    </>
  )
}

function onlyConditions(schema: Schema | undefined): boolean {
  const properties = Object.values(schema?.properties ?? {})
  return properties.length > 0 && schema?.additionalProperties === false && properties.every((each) => kindOf(each) === 'cel' || (kindOf(each) === 'map' && kindOf(shapeOf(each.additionalProperties as Schema, {})) === 'cel'))
}

function Head({ name, step, doc }: { name: string; step: Step; doc: string }) {
  const [editing, setEditing] = useState(false)
  const [wrong, setWrong] = useState('')
  const tryHere = useTryFrom()
  const rename = (to: string) => {
    const next = to.trim()
    const why = whyNotName(next, useEditor.getState().definition, name)
    if (why) return setWrong(why === 'taken' ? t('finder.taken', { name: next }) : t('finder.badName'))
    setWrong('')
    edit(t('did.rename'), (now) => renameStep(now, name, next), () => select(next))
  }
  const retitle = (text: string) => {
    const title = text.trim()
    const found = title && title !== name ? retitling(useEditor.getState().definition, name, title) : null
    if (found?.kind === 'refused') return setWrong(t(found.why === 'taken' ? 'naming.taken' : 'naming.reserved', { name: title }))
    setWrong('')
    edit(t('did.rename'), setStep(name, { title: title && title !== name ? title : undefined }))
  }
  const first = doc.replaceAll('`', '').split(/(?<=\.)\s/)[0]?.replace(/\.$/, '') ?? ''
  return (
    <div className="sec">
      <div className="row">
        <Icon name={iconOf(step.task ?? '')} />
        <b className="grow ell" title={titleOf(name, step)}>
          <bdi>{titleOf(name, step)}</bdi>
        </b>
        <Menu
          items={[
            { id: 'rename', label: t('inspector.rename'), icon: 'edit', run: () => setEditing(!editing) },
            { id: 'disable', label: step.disabled ? t('inspector.enable') : t('inspector.disable'), icon: 'disabled', keys: 'D', run: toggleDisabled },
            { id: 'only', label: t('trying.only'), icon: 'play', separated: true, run: () => tryHere({ only: name }) },
            { id: 'until', label: t('trying.until'), run: () => tryHere({ until: name }) },
            { id: 'from', label: t('trying.from'), run: () => tryHere({ from: name }) },
            { id: 'copy', label: t('act.copy'), icon: 'copy', separated: true, keys: 'Ctrl C', run: () => void copySelected() },
            { id: 'remove', label: t('act.remove'), icon: 'trash', danger: true, keys: 'Delete', run: removeSelected },
          ]}
          trigger={
            <button type="button" className="btn g sm ic" aria-label={t('inspector.more')}>
              <Icon name="more" size="s" />
            </button>
          }
        />
      </div>
      <div className="cap mt-0.5">
        {first ? `${first} · ` : ''}
        <span className="mono">{step.task ?? t('diagram.noTask')}</span>
      </div>
      {step.disabled ? (
        <div className="row t12 mt-2">
          <Icon name="disabled" size="s" />
          <span className="grow">{t('inspector.isDisabled')}</span>
          <Button size="s" onClick={toggleDisabled}>
            {t('inspector.enable')}
          </Button>
        </div>
      ) : null}
      {editing ? (
        <div className="grid grid-cols-2 gap-x-2 gap-y-2.5 mt-2.5">
          <Half label={t('inspector.title')} wide>
            {(id) => <TextValue id={id} label={t('inspector.title')} value={step.title ?? ''} placeholder={name} onChange={retitle} />}
          </Half>
          <Half label={t('inspector.name')} wide>
            {(id) => <TextValue id={id} label={t('inspector.name')} value={name} onChange={rename} />}
          </Half>
          <Half label={t('inspector.task')} wide>
            {(id) => <TaskField id={id} value={step.task ?? ''} onChange={(task) => edit(t('inspector.did.settings'), setStep(name, { task: task || undefined }))} />}
          </Half>
          {wrong ? <div className="t11 bad col-span-2">{wrong}</div> : null}
        </div>
      ) : null}
      <Findings step={name} part="head" />
    </div>
  )
}

function TaskField({ id, value, onChange }: { id: string; value: string; onChange: (task: string) => void }) {
  const offers = useEditor((state) => state.offers)
  return (
    <>
      <TextValue id={id} label={t('inspector.task')} value={value} mono list={`${id}-tasks`} onChange={(text) => onChange(text.trim())} />
      <datalist id={`${id}-tasks`}>
        {Object.keys(offers).map((task) => (
          <option key={task} value={task} />
        ))}
      </datalist>
    </>
  )
}

/** Parameters that are conditions, and the expressions of the step itself that somebody wrote. */
function Conditions({ name, step, schema }: { name: string; step: Step; schema: Schema | undefined }) {
  const set = (key: string, value: unknown) => edit(t('inspector.did.condition'), setStep(name, { with: { ...step.with, [key]: value } }))
  const own = Object.entries(schema?.properties ?? {})
  return (
    <>
      {own.map(([key, each]) => {
        const kind = kindOf(each)
        if (kind === 'cel') return <Condition key={key} title={each.title ?? key} value={String(step.with?.[key] ?? '')} onChange={(text) => set(key, text)} {...(step.task === 'decide' ? { yes: t('condition.then'), no: t('condition.else'), port: 'then' } : {})} />
        if (kind === 'map' && kindOf(shapeOf(each.additionalProperties as Schema, {})) === 'cel') return <Cases key={key} name={name} cases={(step.with?.[key] ?? {}) as Record<string, string>} onChange={(cases) => set(key, cases)} />
        return null
      })}
      {onlyConditions(schema) ? <Findings step={name} part="settings" /> : null}
    </>
  )
}

/** The first case that holds decides: their order counts. */
function Cases({ name, cases, onChange }: { name: string; cases: Record<string, string>; onChange: (cases: Record<string, string>) => void }) {
  const entries = Object.entries(cases)
  const put = (next: [string, string][]) => onChange(Object.fromEntries(next))
  const free = () => {
    for (let n = entries.length + 1; ; n++) if (!(`case ${n}` in cases)) return `case ${n}`
  }
  return (
    <>
      {entries.map(([port, text], at) => (
        <Condition
          key={port}
          title={t('inspector.case', { port })}
          value={text}
          onChange={(next) => put(entries.map((each, index) => (index === at ? [port, next ?? ''] : each)))}
          yes={t('condition.takes', { port })}
          port={port}
          aside={
            <Menu
              items={[
                { id: 'up', label: t('inspector.caseUp'), disabled: at === 0, run: () => put([...entries.slice(0, at - 1), entries[at] as [string, string], entries[at - 1] as [string, string], ...entries.slice(at + 1)]) },
                { id: 'remove', label: t('act.remove'), icon: 'trash', run: () => edit(t('inspector.did.condition'), removeCase(name, port)) },
              ]}
              trigger={
                <button type="button" className="btn g sm ic" aria-label={t('inspector.caseMore', { port })}>
                  <Icon name="more" size="s" />
                </button>
              }
            />
          }
        />
      ))}
      <div className="sec row flex-wrap">
        <Button kind="ghost" size="s" icon="plus" className="-ms-2" onClick={() => put([...entries, [free(), 'true']])}>
          {t('inspector.addCase')}
        </Button>
        <span className="grow" />
        {entries.map(([port]) => (
          <span key={port} className="w-16">
            <TextValue label={t('inspector.caseName', { port, step: name })} value={port} onChange={(to) => to.trim() && edit(t('did.rename'), renameCase(name, port, to.trim()))} />
          </span>
        ))}
      </div>
    </>
  )
}

const NONE: Policy = {}
const policyOf = (step: Step): Policy => step as Policy

function Wrong({ name, step }: { name: string; step: Step }) {
  const [all, setAll] = useState(false)
  const defaults = useEditor((state) => (state.definition.defaults ?? NONE) as Policy)
  const set = (changes: Partial<Policy>) => edit(t('inspector.did.wrong'), setStep(name, changes as Partial<Step>))
  return (
    <Section
      title={t('inspector.wrong')}
      aside={
        <button type="button" className="cap underline decoration-dotted" aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? t('inspector.less') : t('inspector.all-times')}
        </button>
      }
    >
      <PolicyFields policy={policyOf(step)} defaults={defaults} onChange={set} all={all} />
      <Findings step={name} part="wrong" />
    </Section>
  )
}

const SPECIAL = ['each', 'match', 'serialize', 'cancels', 'task_list', 'priority', 'parallel', 'disabled'] as const

/** What few steps need: one firing an item, keys, cancel regions, task lists. */
function Running({ name, step }: { name: string; step: Step }) {
  const defaults = useEditor((state) => (state.definition.defaults ?? NONE) as Policy)
  const others = useEditor((state) => state.definition.steps)
  const set = (changes: Partial<Step>) => edit(t('inspector.did.settings'), setStep(name, changes))
  const cancels = Array.isArray(step.cancels) ? (step.cancels as string[]) : typeof step.cancels === 'string' ? [step.cancels] : []
  const text = (key: string) => (typeof step[key] === 'string' ? (step[key] as string) : '')
  return (
    <Folding id="running" title={t('inspector.running')} filled={SPECIAL.some((key) => step[key] !== undefined)}>
      <div className="col gap-2.5">
        <div className="-mx-[14px] expressions">
          <Condition title={t('inspector.each')} value={text('each')} textOnly onChange={(each) => set({ each })} />
          {step.each ? (
            <div className="px-[14px] pb-3">
              <Half label={t('inspector.eachFailure')}>
                {(id) => (
                  <Select
                    id={id}
                    label={t('inspector.eachFailure')}
                    value={text('each_failure') || 'fail'}
                    options={[
                      { value: 'fail', label: t('inspector.eachFail') },
                      { value: 'collect', label: t('inspector.eachCollect') },
                    ]}
                    onChange={(next) => set({ each_failure: next === 'fail' ? undefined : next })}
                  />
                )}
              </Half>
            </div>
          ) : null}
          <Condition title={t('inspector.match')} value={text('match')} textOnly onChange={(match) => set({ match })} />
          <Condition title={t('inspector.serialize')} value={text('serialize')} textOnly onChange={(serialize) => set({ serialize, ...(serialize ? {} : { serialize_limit: undefined, serialize_scope: undefined }) })} />
        </div>
        {step.serialize ? (
          <div className="grid grid-cols-2 gap-2">
            <Half label={t('inspector.serializeLimit')}>{(id) => <NumberValue id={id} label={t('inspector.serializeLimit')} value={step.serialize_limit} onChange={(value) => set({ serialize_limit: value })} />}</Half>
            <Half label={t('inspector.serializeScope')}>{(id) => <TextValue id={id} label={t('inspector.serializeScope')} value={text('serialize_scope')} placeholder={name} onChange={(value) => set({ serialize_scope: value.trim() || undefined })} />}</Half>
          </div>
        ) : null}
        <QueueFields policy={policyOf(step)} defaults={defaults} onChange={(changes) => set(changes as Partial<Step>)} />
        <fieldset>
          <legend className="lab">{t('inspector.cancels')}</legend>
          <div className="col gap-1 t12">
            {Object.entries(others)
              .filter(([other]) => other !== name)
              .map(([other, each]) => (
                <label key={other} className="row">
                  <input type="checkbox" className="chkbox" checked={cancels.includes(other)} onChange={(event) => set({ cancels: event.target.checked ? [...cancels, other] : cancels.length > 1 ? cancels.filter((one) => one !== other) : undefined })} />
                  <bdi className="ell">{titleOf(other, each)}</bdi>
                </label>
              ))}
          </div>
        </fieldset>
      </div>
    </Folding>
  )
}
