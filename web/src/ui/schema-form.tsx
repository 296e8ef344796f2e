/** A form made of a JSON Schema: text, number, yes or no, one of several, days, lists and fields below fields; what has no such shape is written as JSON. */
import { useState } from 'react'
import { t } from '@/messages'
import { Button, IconButton, Segments } from './buttons'
import { Field, Select, Switch, TextArea, TextInput } from './forms'
import { jsonText } from './json'
import { notJson } from './json-slip'

export interface FormSchema {
  type?: string | string[]
  title?: string
  description?: string
  properties?: Record<string, FormSchema>
  items?: FormSchema | boolean
  required?: string[]
  enum?: unknown[]
  default?: unknown
  format?: string
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  minItems?: number
}

export type FormValue = Record<string, unknown>

const kindOf = (schema: FormSchema): string | undefined => (Array.isArray(schema.type) ? schema.type.find((each) => each !== 'null') : schema.type)

/** What a form begins with: the defaults that the schema names; a list that is needed has a line to write in, a switch is off, as it looks. */
export function begun(schema: FormSchema | null | undefined): FormValue {
  const found: FormValue = {}
  for (const [name, each] of Object.entries(schema?.properties ?? {})) {
    const empty = schema?.required?.includes(name) ? EMPTY[kindOf(each) ?? ''] : undefined
    if (each.default !== undefined) found[name] = each.default
    else if (empty) found[name] = empty(each)
  }
  return found
}

const EMPTY: Record<string, (schema: FormSchema) => unknown> = { array: (schema) => (isTexts(schema) ? [''] : []), boolean: () => false }

/** Whether a list is of words that somebody writes. */
function isTexts(schema: FormSchema): boolean {
  const line = lineOf(schema)
  return line !== null && kindOf(line) === 'string' && !line.enum
}

/** The shape of the lines of a list, where they can be filled in one by one. */
export function lineOf(schema: FormSchema): FormSchema | null {
  const items = schema.items
  if (kindOf(schema) !== 'array' || !items || typeof items !== 'object') return null
  if (items.enum || items.properties || lineOf(items)) return items
  return ['string', 'integer', 'number', 'boolean'].includes(kindOf(items) ?? '') ? items : null
}

/** What a new line of a list holds. */
export function newLine(schema: FormSchema): unknown {
  if (schema.default !== undefined) return schema.default
  if (schema.enum) return schema.enum[0]
  if (schema.properties) return begun(schema)
  if (lineOf(schema)) return []
  const kind = kindOf(schema)
  return kind === 'boolean' ? false : kind === 'string' ? '' : (schema.minimum ?? 0)
}

const isBlank = (value: unknown): boolean => value === undefined || (typeof value === 'string' ? value.trim() === '' : Array.isArray(value) && value.every((each) => typeof each === 'string' && isBlank(each)))

/** The names that are needed and were left empty; a least size of 0 says that it may be empty. */
export function lacking(schema: FormSchema | null | undefined, value: FormValue): string[] {
  return (schema?.required ?? []).filter((name) => {
    const own = schema?.properties?.[name]
    const given = value[name]
    return given === undefined || (isBlank(given) && own?.minLength !== 0 && own?.minItems !== 0)
  })
}

/** A sentence for each field that is needed and was left empty. */
export const lackingSaid = (schema: FormSchema | null | undefined, value: FormValue): Record<string, string> =>
  Object.fromEntries(lacking(schema, value).map((name) => [name, t('form.needed', { label: schema?.properties?.[name]?.title ?? name })]))

/** What is sent of a form: lines in which nothing was written are none. */
export function filledIn(schema: FormSchema | null | undefined, value: FormValue): FormValue {
  const lists = Object.entries(schema?.properties ?? {}).filter(([name, each]) => isTexts(each) && Array.isArray(value[name]))
  return { ...value, ...Object.fromEntries(lists.map(([name]) => [name, (value[name] as unknown[]).filter((each) => !isBlank(each))])) }
}

export function SchemaForm({ schema, value, onChange, errors = {}, large = false }: { schema: FormSchema; value: FormValue; onChange: (value: FormValue) => void; errors?: Record<string, string>; large?: boolean }) {
  const set = (name: string, next: unknown) => {
    const { [name]: _old, ...rest } = value
    onChange(next === undefined ? rest : { ...rest, [name]: next })
  }
  return (
    <div className="col gap-3">
      {Object.entries(schema.properties ?? {}).map(([name, each]) => (
        <OneField key={name} name={name} schema={each} needed={schema.required?.includes(name) ?? false} value={value[name]} error={errors[name]} large={large} onChange={(next) => set(name, next)} />
      ))}
    </div>
  )
}

interface OneProps {
  name: string
  schema: FormSchema
  needed: boolean
  value: unknown
  error?: string
  large: boolean
  onChange: (value: unknown) => void
}

function OneField({ name, schema, needed, value, error, large, onChange }: OneProps) {
  const label = schema.title ?? name
  const aside = needed ? t('form.required') : undefined
  if (schema.enum && schema.enum.length <= 4 && schema.enum.every((each) => String(each).length <= 18)) {
    return (
      <div>
        <div className="lab">
          <span>{label}</span>
          <span className="fnt">{aside}</span>
        </div>
        <div className={large ? 'wide' : ''}>
          <Segments label={label} value={value === undefined ? '' : String(value)} choices={schema.enum.map((each) => ({ value: String(each), label: String(each) }))} onChange={(next) => onChange(schema.enum?.find((each) => String(each) === next))} />
        </div>
        {error ? <div className="t11 bad mt-1">{error}</div> : null}
      </div>
    )
  }
  if (lineOf(schema) || schema.properties) {
    return (
      <fieldset>
        <legend className="lab w-full">
          <span>{label}</span>
          <span className="fnt">{aside}</span>
        </legend>
        <Control ids={{ id: '' }} label={label} schema={schema} value={value} onChange={onChange} />
        {error || schema.description ? <div className={`t11 mt-1 ${error ? 'bad' : 'fnt'}`}>{error ?? schema.description}</div> : null}
      </fieldset>
    )
  }
  return (
    <Field label={label} hint={schema.description} aside={aside} error={error}>
      {(ids) => <Control ids={ids} label={label} schema={schema} value={value} onChange={onChange} />}
    </Field>
  )
}

interface ControlProps {
  ids: { id?: string; 'aria-label'?: string; 'aria-describedby'?: string; 'aria-invalid'?: boolean }
  label: string
  schema: FormSchema
  value: unknown
  onChange: (value: unknown) => void
}

function Control({ ids, label, schema, value, onChange }: ControlProps) {
  const kind = kindOf(schema)
  const line = lineOf(schema)
  const text = value === undefined ? '' : String(value)
  if (schema.enum) return <Select id={ids.id} label={label} value={text} options={schema.enum.map((each) => ({ value: String(each), label: String(each) }))} onChange={(next) => onChange(schema.enum?.find((each) => String(each) === next))} />
  if (kind === 'boolean') return <Switch id={ids.id} label={label} checked={value === true} onChange={onChange} />
  if (kind === 'integer' || kind === 'number') return <TextInput {...ids} inputMode="decimal" type="number" step={kind === 'integer' ? 1 : 'any'} min={schema.minimum} max={schema.maximum} value={text} onChange={(event) => onChange(event.target.value === '' ? undefined : Number(event.target.value))} />
  if (line) return <Lines label={label} line={line} value={value} onChange={onChange} />
  if (schema.properties) return <Below schema={schema} value={value} onChange={onChange} />
  if (kind !== 'string') return <JsonField {...ids} value={value} onChange={onChange} />
  if (schema.format === 'textarea' || (schema.maxLength ?? 0) > 200) return <TextArea {...ids} rows={3} value={text} onChange={(event) => onChange(event.target.value || undefined)} />
  return <TextInput {...ids} type={DATES[schema.format ?? ''] ?? 'text'} value={text} onChange={(event) => onChange(event.target.value || undefined)} />
}

/** A list, one line below the other. */
function Lines({ label, line, value, onChange }: { label: string; line: FormSchema; value: unknown; onChange: (value: unknown) => void }) {
  const items = Array.isArray(value) ? (value as unknown[]) : []
  return (
    <div className="col gap-1">
      {items.map((each, at) => {
        const name = t('form.line', { label, n: at + 1 })
        return (
          <div key={at} className="row items-start">
            <div className="grow min-w-0">
              <Control ids={{ 'aria-label': name }} label={name} schema={line} value={each} onChange={(next) => onChange(items.map((old, index) => (index === at ? (next ?? newLine(line)) : old)))} />
            </div>
            <IconButton icon="cross" size="s" label={t('form.removeLine', { label, n: at + 1 })} onClick={() => onChange(items.filter((_old, index) => index !== at))} />
          </div>
        )
      })}
      <span>
        <Button kind="ghost" size="s" icon="plus" className="-ms-2" aria-label={t('form.addTo', { label })} onClick={() => onChange([...items, newLine(line)])}>
          {t('form.addLine')}
        </Button>
      </span>
    </div>
  )
}

function Below({ schema, value, onChange }: { schema: FormSchema; value: unknown; onChange: (value: unknown) => void }) {
  const own = value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as FormValue) : {}
  return (
    <div className="border-s border-line ps-2">
      <SchemaForm schema={schema} value={own} onChange={(next) => onChange(Object.keys(next).length > 0 ? next : undefined)} />
    </div>
  )
}

const DATES: Record<string, string> = { date: 'date', email: 'email', uri: 'url', time: 'time' }

/** JSON written by hand: it counts once it can be read. */
export function JsonField({ value, begin, onChange, rows = 3, onText, ...ids }: { id?: string; value: unknown; begin?: string; onChange?: (value: unknown) => void; rows?: number; onText?: (error: string | null, text: string) => void }) {
  const [text, setText] = useState(() => begin ?? jsonText(value))
  const [wrong, setWrong] = useState<string | null>(() => (begin === undefined ? null : readJson(begin).error))
  return (
    <>
      <TextArea
        {...ids}
        rows={rows}
        className="mono"
        value={text}
        aria-invalid={wrong !== null || undefined}
        onChange={(event) => {
          setText(event.target.value)
          const { read, error } = readJson(event.target.value)
          setWrong(error)
          onText?.(error, event.target.value)
          if (error === null) onChange?.(read)
        }}
      />
      {wrong ? (
        <div className="t11 bad mt-1" role="alert">
          {wrong}
        </div>
      ) : null}
    </>
  )
}

/** What a text says as JSON; nothing is nothing. */
export function readJson(text: string): { read: unknown; error: string | null } {
  if (!text.trim()) return { read: undefined, error: null }
  try {
    return { read: JSON.parse(text), error: null }
  } catch {
    return { read: undefined, error: notJson(text) }
  }
}
