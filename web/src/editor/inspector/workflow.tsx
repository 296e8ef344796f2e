/** The workflow itself, where nothing is selected. */
import { useMemo, useState } from 'react'
import { type Definition, type External, externalName } from '@/diagram/definition'
import { t } from '@/messages'
import { Icon, Select } from '@/ui'
import { Condition } from '../conditions/builder'
import { badEvent } from '../acts'
import { addExternal, removeExternal, renameEvent, setTop } from '../document'
import { edit, useEditor } from '../store'
import { LongValue, MapValue, NumberValue, SchemaForm, SwitchValue, TextValue } from './fields'
import { AddEvent, FindingNote, Folding, Pill, RemoveButton, Section } from './parts'
import type { Schema } from './schema'
import { ShapeFields, type ShapeMode, ShapeModes } from './shape'
import { NextTicks } from './ticks'
import { DurationField, Half, type Policy, PolicyFields, QueueFields } from './wrong'

const set = (changes: Partial<Definition>) => edit(t('inspector.did.workflow'), setTop(changes))

export function WorkflowInspector() {
  const definition = useEditor((state) => state.definition)
  const report = useEditor((state) => state.report)
  const own = useMemo(() => report?.findings.filter((finding) => finding.step === null) ?? [], [report])
  const policy = (definition.defaults ?? {}) as Policy
  const defaults = (changes: Partial<Policy>) => {
    const made = Object.fromEntries(Object.entries({ ...policy, ...changes }).filter(([, value]) => value !== undefined))
    set({ defaults: Object.keys(made).length > 0 ? made : undefined })
  }
  return (
    <>
      <div className="sec">
        <div className="row">
          <Icon name="flow" />
          <b className="grow ell">
            <bdi>{definition.title ?? definition.name}</bdi>
          </b>
        </div>
        <div className="cap mt-0.5">
          {t('inspector.workflow')} · <span className="mono">{definition.name}</span>
        </div>
        <div className="col gap-2.5 mt-2.5">
          <Half label={t('inspector.title')}>{(id) => <TextValue id={id} label={t('inspector.title')} value={definition.title ?? ''} placeholder={definition.name} onChange={(text) => set({ title: text.trim() || undefined })} />}</Half>
          <Half label={t('inspector.description')}>{(id) => <LongValue id={id} label={t('inspector.description')} value={definition.description ?? ''} onChange={(text) => set({ description: text.trim() || undefined })} />}</Half>
        </div>
        {own.map((finding) => (
          <FindingNote key={`${finding.code} ${finding.event} ${finding.message}`} finding={finding} />
        ))}
      </div>
      <SourceSection definition={definition} />
      <Outside definition={definition} />
      <Params definition={definition} />
      <Condition title={t('inspector.result')} value={typeof definition.result === 'string' ? definition.result : ''} textOnly onChange={(result) => set({ result })} />
      <Folding id="ends" title={t('inspector.ends')} filled={definition.timeout !== undefined || definition.on_failure !== undefined || definition.endless !== undefined}>
        <div className="grid grid-cols-2 gap-x-2 gap-y-2.5">
          <DurationField label={t('inspector.timeout')} value={definition.timeout} placeholder="2d" onChange={(timeout) => set({ timeout })} />
          <DurationField label={t('inspector.cleanup')} value={definition.cleanup_timeout} placeholder="10m" onChange={(value) => set({ cleanup_timeout: value })} />
          <Half label={t('inspector.onFailure')} wide>
            {(id) => (
              <Select
                id={id}
                label={t('inspector.onFailure')}
                value={definition.on_failure === 'continue' ? 'continue' : 'fail'}
                options={[
                  { value: 'fail', label: t('inspector.failAtOnce') },
                  { value: 'continue', label: t('inspector.failLater') },
                ]}
                onChange={(value) => set({ on_failure: value === 'fail' ? undefined : value })}
              />
            )}
          </Half>
          <Half label={t('inspector.endless')}>{(id) => <SwitchValue id={id} label={t('inspector.endless')} value={definition.endless === true} onChange={(value) => set({ endless: value || undefined })} />}</Half>
          <Half label={t('inspector.maxRunning')}>{(id) => <NumberValue id={id} label={t('inspector.maxRunning')} value={definition.max_running} onChange={(value) => set({ max_running: value })} />}</Half>
          <DurationField label={t('inspector.retention')} value={definition.retention} placeholder="90d" onChange={(value) => set({ retention: value })} />
        </div>
      </Folding>
      <Folding id="defaults" title={t('inspector.defaults')} filled={definition.defaults !== undefined}>
        <div className="col gap-2.5">
          <PolicyFields policy={policy} onChange={defaults} all />
          <QueueFields policy={policy} onChange={defaults} />
        </div>
      </Folding>
      <Folding id="labels" title={t('inspector.labels')} filled={definition.labels !== undefined}>
        <MapValue label={t('inspector.labels')} value={definition.labels} schema={{ additionalProperties: { type: 'string' } }} root={{}} onChange={(value) => set({ labels: Object.keys((value as object | undefined) ?? {}).length > 0 ? value : undefined })} />
      </Folding>
    </>
  )
}

// -- what starts runs ----------------------------------------------------------------------------------------

const cel = (title: string): Schema => ({ type: 'string', title, format: 'cel' })
const FORMS: Record<string, () => Schema> = {
  api: () => ({ type: 'object', additionalProperties: false }),
  object: () => ({ type: 'object', required: ['store'], additionalProperties: false, properties: { store: { type: 'string' }, prefix: { type: 'string' }, suffix: { type: 'string' }, glob: { type: 'string' }, where: cel(t('inspector.where')), events: { type: 'array', items: { enum: ['created', 'deleted'] } } } }),
  search: () => ({ type: 'object', required: ['store', 'cron'], additionalProperties: false, properties: { store: { type: 'string' }, cron: { type: 'string', title: t('inspector.cron') }, tz: { type: 'string', title: t('inspector.zone') }, prefix: { type: 'string' }, glob: { type: 'string' }, where: cel(t('inspector.where')) } }),
  schedule: () => ({
    type: 'object',
    additionalProperties: false,
    properties: {
      cron: { type: 'string', title: t('inspector.cron') },
      every: { type: 'string', title: t('inspector.every') },
      tz: { type: 'string', title: t('inspector.zone') },
      overrun: { enum: ['skip', 'start', 'abort', 'delay', 'delay_until_success'], title: t('inspector.overrun'), default: 'skip' },
      catch_up: { enum: ['none', 'latest', 'all'], title: t('inspector.catchUp'), default: 'latest' },
      max_running: { type: 'integer', title: t('inspector.maxRunning') },
    },
  }),
  webhook: () => ({ type: 'object', additionalProperties: false, properties: { verify: { title: t('inspector.verify') }, where: cel(t('inspector.where')), subject: cel(t('inspector.subject')), input: cel(t('inspector.input')), id: cel(t('inspector.eventId')) } }),
  topic: () => ({ type: 'object', required: ['bus', 'topic'], additionalProperties: false, properties: { bus: { type: 'string' }, topic: { type: 'string' }, where: cel(t('inspector.where')), subject: cel(t('inspector.subject')), input: cel(t('inspector.input')), id: cel(t('inspector.eventId')) } }),
}
const CLOCKS: ReadonlySet<string> = new Set(['search', 'schedule'])
const KINDS = ['api', 'object', 'search', 'schedule', 'webhook', 'topic'] as const

function SourceSection({ definition }: { definition: Definition }) {
  const source = (definition.source ?? { kind: 'api' }) as { kind: string; [key: string]: unknown }
  const { kind, ...options } = source
  return (
    <Section title={t('inspector.source')}>
      <div className="col gap-2.5">
        <Half label={t('inspector.sourceKind')}>{(id) => <Select id={id} label={t('inspector.sourceKind')} value={kind} options={KINDS.map((each) => ({ value: each as string, label: t(`source.${each}`) }))} onChange={(next) => set({ source: { kind: next, ...FIRST[next] } })} />}</Half>
        <SchemaForm schema={FORMS[kind]?.()} value={options} onChange={(next) => set({ source: { kind, ...((next as object | undefined) ?? {}) } })} title={t('inspector.source')} worked={false} />
        {CLOCKS.has(kind) ? <NextTicks cron={source.cron} every={source.every} tz={source.tz} /> : null}
        {kind === 'webhook' ? <p className="t11 mut">{t('inspector.hookAt', { path: `/hooks/${definition.name}` })}</p> : null}
      </div>
    </Section>
  )
}

/** What a source of a kind cannot be without. */
const FIRST: Record<string, Record<string, unknown>> = { schedule: { cron: '0 6 * * *' }, search: { store: 'store', cron: '0 6 * * *' }, object: { store: 'store' }, topic: { bus: 'bus', topic: 'topic' } }

// -- events from outside -------------------------------------------------------------------------------------

const FROM = (): Schema => ({
  type: 'object',
  additionalProperties: false,
  properties: {
    kind: { enum: ['webhook', 'topic'], default: 'webhook', title: t('inspector.sourceKind') },
    verify: { title: t('inspector.verify') },
    bus: { type: 'string' },
    topic: { type: 'string' },
    key: { type: 'object', title: t('inspector.key'), additionalProperties: { type: 'string' } },
    where: cel(t('inspector.where')),
    data: cel(t('inspector.data')),
    set: cel(t('inspector.set')),
    id: cel(t('inspector.eventId')),
  },
})

export function setExternal(name: string, changes: Record<string, unknown>) {
  return (definition: Definition): Definition => ({
    ...definition,
    external: (definition.external ?? []).map((each): External => {
      if (externalName(each) !== name) return each
      const made = Object.fromEntries(Object.entries({ ...(typeof each === 'string' ? { name: each } : each), ...changes }).filter(([, value]) => value !== undefined && value !== false)) as { name: string }
      return Object.keys(made).length === 1 ? made.name : made
    }),
  })
}

function Outside({ definition }: { definition: Definition }) {
  return (
    <Section title={t('inspector.external')}>
      <div className="col gap-[5px]">
        {(definition.external ?? []).map((each) => (
          <OutsideEvent key={externalName(each)} external={each} />
        ))}
        <AddEvent label={t('inspector.addExternal')} waiting={false} onAdd={(name) => edit(t('did.outside'), addExternal(name))} />
      </div>
    </Section>
  )
}

export function OutsideEvent({ external, opened = false }: { external: External; opened?: boolean }) {
  const [open, setOpen] = useState(opened)
  const name = externalName(external)
  const facts = typeof external === 'string' ? { many: false, optional: false, from: undefined, schema: undefined } : external
  const change = (changes: Record<string, unknown>) => edit(t('did.outside'), setExternal(name, changes))
  const [wrong, setWrong] = useState<string | null>(null)
  const rename = (text: string) => {
    const to = text.trim()
    const why = badEvent(to, name)
    setWrong(why)
    if (!why) edit(t('did.rename'), (now) => renameEvent(now, name, to).definition)
  }
  return (
    <div>
      <div className="row">
        <button type="button" className="row gap-1 min-w-0" aria-expanded={open} aria-label={t('inspector.openEvent', { name })} onClick={() => setOpen(!open)}>
          <Pill name={name} />
          <Icon name={open ? 'down' : 'right'} size="xs" />
        </button>
        <span className="cap grow">{[facts.many ? t('inspector.many') : '', facts.optional ? t('inspector.optional') : ''].filter(Boolean).join(', ')}</span>
        <RemoveButton label={t('inspector.removeExternal', { name })} onClick={() => edit(t('did.outside'), removeExternal(name))} />
      </div>
      {open ? (
        <div className="slotbox mt-1 grid grid-cols-2 gap-x-2 gap-y-2.5">
          <Half label={t('inspector.eventName')} wide>
            {(id) => <TextValue id={id} label={t('inspector.eventName')} value={name} onChange={rename} />}
          </Half>
          {wrong ? (
            <div className="t11 bad col-span-2" role="alert">
              {wrong}
            </div>
          ) : null}
          <Half label={t('inspector.manyLabel')}>{(id) => <SwitchValue id={id} label={t('inspector.manyLabel')} value={facts.many === true} onChange={(many) => change({ many })} />}</Half>
          <Half label={t('inspector.optionalLabel')}>{(id) => <SwitchValue id={id} label={t('inspector.optionalLabel')} value={facts.optional === true} onChange={(optional) => change({ optional })} />}</Half>
          <div className="col-span-2">
            <div className="lab">
              <span>{t('inspector.fromCall')}</span>
            </div>
            {facts.from ? <SchemaForm schema={FROM()} value={facts.from as Record<string, unknown>} onChange={(from) => change({ from })} worked={false} /> : null}
            <SwitchValue label={t('inspector.fromCall')} value={facts.from !== undefined} yes={t('inspector.byCall')} no={t('inspector.byApi')} onChange={(on) => change({ from: on ? { kind: 'webhook' } : undefined })} />
          </div>
        </div>
      ) : null}
    </div>
  )
}

// -- what a run begins with ----------------------------------------------------------------------------------

function Params({ definition }: { definition: Definition }) {
  const [as, setAs] = useState<ShapeMode>('fields')
  const schema = definition.params as Schema | undefined
  return (
    <Section title={t('inspector.params')} aside={<ShapeModes label={t('inspector.paramsAs')} schema={schema} as={as} onChange={setAs} />}>
      <ShapeFields label={t('inspector.schemaText')} schema={schema} as={as} onChange={(params) => set({ params: params as Definition['params'] })} />
    </Section>
  )
}
