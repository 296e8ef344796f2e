/** The fields of a form: each writes one value, and any of them can be worked out by an expression. */
import { type ReactNode, useEffect, useId, useRef, useState } from 'react'
import { t } from '@/messages'
import { Button, Icon, IconButton, Select, Switch, Tooltip } from '@/ui'
import { type FormField, type Kind, type Schema, fieldsOf, firstValue, isExpression, isOpen, kindOf, lineTexts, pieces, readJson, shapeOf, textsLine, typedNumber, wayOf } from './schema'
import { ShapeValue } from './shape'
import { useTyped } from './typed'

export type Change = (value: unknown) => void

export interface ValueProps {
  id: string
  label: string
  value: unknown
  onChange: Change
  schema: Schema
  root: Schema
  describedBy?: string
}

/** A line of text; where it holds expressions, they are shown as chips until somebody edits it. */
export function TextValue({ id, label, value, onChange, mono = false, list, placeholder, describedBy }: { id?: string; label: string; value: string; onChange: (text: string) => void; mono?: boolean; list?: string; placeholder?: string; describedBy?: string }) {
  const typed = useTyped(value, onChange)
  const [editing, setEditing] = useState(false)
  const input = useRef<HTMLInputElement>(null)
  const began = useRef(false)
  useEffect(() => {
    if (editing && began.current) input.current?.focus()
    began.current = false
  }, [editing])
  if (isExpression(value) && !editing) {
    return (
      <button
        type="button"
        id={id}
        className="f chips"
        aria-label={`${label}: ${value}`}
        onClick={() => {
          began.current = true
          setEditing(true)
        }}
      >
        {pieces(value).map((piece, at) => (
          <span key={`${at} ${piece.text}`} className={piece.kind === 'expression' ? 'expr' : 'ell'}>
            {piece.text}
          </span>
        ))}
      </button>
    )
  }
  return (
    <input
      ref={input}
      id={id}
      className={`f ${mono ? 'mono' : ''}`}
      aria-label={id ? undefined : label}
      aria-describedby={describedBy}
      autoComplete="off"
      spellCheck={false}
      placeholder={placeholder}
      list={list}
      {...typed}
      onFocus={() => setEditing(true)}
      onBlur={() => {
        typed.onBlur()
        setEditing(false)
      }}
    />
  )
}

export function LongValue({ id, label, value, onChange, rows = 3, mono = false }: { id?: string; label: string; value: string; onChange: (text: string) => void; rows?: number; mono?: boolean }) {
  const typed = useTyped(value, onChange)
  return <textarea id={id} aria-label={id ? undefined : label} className={`f ${mono ? 'mono' : ''}`} rows={rows} spellCheck={false} {...typed} />
}

export function NumberValue({ id, label, value, onChange, placeholder }: { id?: string; label: string; value: unknown; onChange: Change; placeholder?: string }) {
  const typed = useTyped(value === undefined || value === null ? '' : String(value), (text) => onChange(typedNumber(text)))
  return <input id={id} aria-label={id ? undefined : label} className="f" inputMode="decimal" autoComplete="off" placeholder={placeholder} {...typed} />
}

export function JsonValue({ id, label, value, onChange, rows = 4 }: { id?: string; label: string; value: unknown; onChange: Change; rows?: number }) {
  const [wrong, setWrong] = useState<string | null>(null)
  const typed = useTyped(value === undefined ? '' : JSON.stringify(value, null, 2), (text) => {
    const read = readJson(text)
    setWrong('error' in read ? read.error : null)
    if (!('error' in read)) onChange(read.value)
  })
  const said = useId()
  return (
    <>
      <textarea id={id} aria-label={id ? undefined : label} aria-describedby={wrong ? said : undefined} aria-invalid={wrong ? true : undefined} className="f mono" rows={rows} spellCheck={false} {...typed} onBlur={() => (wrong ? undefined : typed.onBlur())} />
      {wrong ? (
        <div id={said} className="t11 bad mt-1">
          {wrong}
        </div>
      ) : null}
    </>
  )
}

export function SwitchValue({ id, label, value, onChange, yes = t('inspector.yes'), no = t('inspector.no') }: { id?: string; label: string; value: boolean; onChange: (value: boolean) => void; yes?: string; no?: string }) {
  return (
    <div className="f">
      <span className="grow">{value ? yes : no}</span>
      <Switch id={id} label={label} checked={value} onChange={onChange} />
    </div>
  )
}

function EnumValue({ id, label, value, onChange, schema }: ValueProps) {
  const choices = (schema.enum ?? [schema.const]).map((each) => ({ value: JSON.stringify(each), label: String(each) }))
  const options = [...(value === undefined ? [{ value: '', label: '' }] : []), ...choices].filter((each) => each.value !== '')
  return <Select id={id} label={label} value={value === undefined ? '' : JSON.stringify(value)} options={options} onChange={(next) => onChange(JSON.parse(next))} />
}

function ListValue({ label, value, onChange, schema, root }: ValueProps) {
  const items = Array.isArray(value) ? (value as unknown[]) : []
  const shape = shapeOf(schema.items, root)
  const change = (at: number, next: unknown) => onChange(items.map((each, index) => (index === at ? next : each)))
  return (
    <div className="col gap-1">
      {items.map((each, at) => (
        <div key={at} className="row items-start">
          <div className="grow min-w-0">
            <AnyValue id="" label={t('inspector.item', { label, n: at + 1 })} value={each} onChange={(next) => change(at, next ?? firstValue(shape))} schema={shape} root={root} />
          </div>
          <IconButton icon="cross" size="s" label={t('inspector.removeItem', { label, n: at + 1 })} onClick={() => onChange(items.filter((_each, index) => index !== at))} />
        </div>
      ))}
      <AddButton label={t('inspector.addTo', { label })} onClick={() => onChange([...items, firstValue(shape)])} />
    </div>
  )
}

export function AddButton({ label, text = t('inspector.add'), onClick }: { label: string; text?: string; onClick: () => void }) {
  return (
    <span>
      <Button kind="ghost" size="s" icon="plus" className="-ms-2" aria-label={label} onClick={onClick}>
        {text}
      </Button>
    </span>
  )
}

/** An object whose keys people choose. */
export function MapValue({ label, value, onChange, schema, root }: Omit<ValueProps, 'id'>) {
  const entries = Object.entries((value ?? {}) as Record<string, unknown>)
  const shape = shapeOf(schema.additionalProperties as Schema, root)
  const rename = (from: string, to: string) => {
    if (to.trim() && !entries.some(([name]) => name === to)) onChange(Object.fromEntries(entries.map(([name, each]) => [name === from ? to : name, each])))
  }
  const free = () => {
    for (let n = 1; ; n++) if (!entries.some(([name]) => name === `name${n}`)) return `name${n}`
  }
  return (
    <div className="col gap-1">
      {entries.map(([name, each]) => (
        <div key={name} className="row items-start">
          <div className="w-[92px] flex-none">
            <TextValue label={t('inspector.keyOf', { label })} value={name} onChange={(to) => rename(name, to)} />
          </div>
          <div className="grow min-w-0">
            <AnyValue id="" label={`${label}: ${name}`} value={each} onChange={(next) => onChange({ ...(value as object), [name]: next ?? '' })} schema={shape} root={root} />
          </div>
          <IconButton icon="cross" size="s" label={t('inspector.removeNamed', { name })} onClick={() => onChange(Object.fromEntries(entries.filter(([other]) => other !== name)))} />
        </div>
      ))}
      <AddButton label={t('inspector.addTo', { label })} onClick={() => onChange({ ...((value as object | undefined) ?? {}), [free()]: firstValue(shape) ?? '' })} />
    </div>
  )
}

function ChoiceValue({ id, label, value, onChange, schema, root }: ValueProps) {
  const ways = (schema.oneOf ?? []).map((way) => shapeOf(way, root))
  const way = wayOf(ways, value)
  const options = ways.map((each, at) => ({ value: String(at), label: each.title ?? String(each.const ?? each.type ?? at + 1) }))
  const shape = ways[way] ?? {}
  return (
    <div className="col gap-1">
      <Select id={id} label={label} value={String(way)} options={options} onChange={(next) => onChange(firstValue(ways[Number(next)] ?? {}))} />
      {shape.const === undefined ? <AnyValue id="" label={label} value={value} onChange={onChange} schema={shape} root={root} /> : null}
    </div>
  )
}

/** What is filled in, by the shape that it has. */
export function AnyValue(props: ValueProps): ReactNode {
  const { id, label, value, onChange, schema, root } = props
  const kind = isExpression(value) ? 'text' : kindOf(schema)
  const own = id || undefined
  switch (kind) {
    case 'text':
    case 'cel':
      if (value !== undefined && value !== null && typeof value !== 'string') return <JsonValue id={own} label={label} value={value} onChange={onChange} />
      return <TextValue id={own} label={label} value={(value as string | undefined) ?? ''} mono={kind === 'cel'} onChange={(text) => onChange(text === '' ? undefined : text)} describedBy={props.describedBy} />
    case 'texts':
      return <TextValue id={own} label={label} value={textsLine(value)} placeholder={t('inspector.texts')} onChange={(text) => onChange(lineTexts(text))} describedBy={props.describedBy} />
    case 'time':
      return <TextValue id={own} label={label} value={value === undefined || value === null ? '' : String(value)} placeholder={t(schema.format === 'duration' ? 'inspector.duration' : 'inspector.moment')} onChange={(text) => onChange(typedNumber(text.trim()))} describedBy={props.describedBy} />
    case 'long':
      return <LongValue id={own} label={label} value={typeof value === 'string' ? value : ''} onChange={(text) => onChange(text === '' ? undefined : text)} />
    case 'number':
      return <NumberValue id={own} label={label} value={value} onChange={onChange} />
    case 'boolean':
      return <SwitchValue id={own} label={label} value={value === true} onChange={onChange} />
    case 'enum':
      return <EnumValue {...props} />
    case 'list':
      return <ListValue {...props} />
    case 'map':
      return <MapValue {...props} />
    case 'choice':
      return <ChoiceValue {...props} />
    case 'shape':
      return <ShapeValue label={label} schema={value as Schema | undefined} onChange={onChange} />
    case 'object':
      return (
        <div className="ps-2 border-s border-line">
          <SchemaForm schema={schema} root={root} value={value as Record<string, unknown> | undefined} onChange={onChange} />
        </div>
      )
    default:
      return <JsonValue id={own} label={label} value={value} onChange={onChange} />
  }
}

const HALF: ReadonlySet<Kind> = new Set<Kind>(['number', 'boolean', 'enum'])

/** A form for an object: fields that its schema names, and those that it has besides; `worked`: expressions may fill them in. */
export function SchemaForm({ schema, root = schema ?? {}, value, onChange, without = NO_KINDS, adding = true, title, worked = true }: { schema: Schema | undefined; root?: Schema; value: Record<string, unknown> | undefined; onChange: Change; without?: ReadonlySet<Kind>; adding?: boolean; title?: string; worked?: boolean }) {
  const fields = fieldsOf(schema, value, root).filter((field) => !without.has(field.kind) && !isMapOf(field, root, without))
  const [naming, setNaming] = useState(false)
  const set = (name: string, next: unknown) => {
    const { [name]: _old, ...rest } = value ?? {}
    const made = next === undefined ? rest : { ...(value ?? {}), [name]: next }
    onChange(Object.keys(made).length === 0 ? undefined : made)
  }
  return (
    <div className="grid grid-cols-2 gap-x-2 gap-y-2.5">
      {fields.map((field) => (
        <FormRow key={field.name} field={field} root={root} value={value?.[field.name]} onChange={(next) => set(field.name, next)} extra={!schema?.properties?.[field.name]} fills={worked} />
      ))}
      {adding && isOpen(schema) ? (
        <div className="col-span-2">
          {naming ? (
            <NewName
              onDone={(name) => {
                setNaming(false)
                if (name && value?.[name] === undefined) set(name, '')
              }}
            />
          ) : (
            <AddButton label={t('inspector.addField', { title: title ?? '' })} text={t('inspector.addParameter')} onClick={() => setNaming(true)} />
          )}
        </div>
      ) : null}
    </div>
  )
}

const NO_KINDS: ReadonlySet<Kind> = new Set()
const isMapOf = (field: FormField, root: Schema, kinds: ReadonlySet<Kind>): boolean => field.kind === 'map' && kinds.has(kindOf(shapeOf(field.schema.additionalProperties as Schema, root)))

function NewName({ onDone }: { onDone: (name: string) => void }) {
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => input.current?.focus(), [])
  return (
    <input
      ref={input}
      className="f"
      aria-label={t('inspector.newName')}
      placeholder={t('inspector.newName')}
      onBlur={(event) => onDone(event.target.value.trim())}
      onKeyDown={(event) => {
        if (event.key === 'Enter') onDone(event.currentTarget.value.trim())
        if (event.key === 'Escape') onDone('')
      }}
    />
  )
}

function FormRow({ field, root, value, onChange, extra, fills }: { field: FormField; root: Schema; value: unknown; onChange: Change; extra: boolean; fills: boolean }) {
  const id = useId()
  const said = field.hint ? `${id}-said` : undefined
  const worked = isExpression(value)
  const half = HALF.has(field.kind) && !worked
  return (
    <div className={half ? 'min-w-0' : 'col-span-2 min-w-0'}>
      <div className="lab">
        <label htmlFor={id}>
          <bdi>{field.label}</bdi>
        </label>
        <span className="row gap-1">
          {field.required ? <span className="fnt">{t('inspector.required')}</span> : null}
          {fills || worked ? (
            <Tooltip text={worked ? t('inspector.plainValue') : t('inspector.expression')}>
              <button type="button" className={`fx ${worked ? 'on' : ''}`} aria-label={`${field.label}: ${worked ? t('inspector.plainValue') : t('inspector.expression')}`} aria-pressed={worked} onClick={() => onChange(worked ? firstValue(field.schema) : '${ data }')}>
                <Icon name="func" size="xs" />
              </button>
            </Tooltip>
          ) : null}
          {extra ? (
            <button type="button" className="fx" aria-label={t('inspector.removeNamed', { name: field.name })} onClick={() => onChange(undefined)}>
              <Icon name="cross" size="xs" />
            </button>
          ) : null}
        </span>
      </div>
      <AnyValue id={id} label={field.label} value={value ?? (field.kind === 'enum' ? field.schema.default : undefined)} onChange={onChange} schema={extra && field.kind === 'text' ? { type: 'string' } : extra && field.kind === 'number' ? { type: 'number' } : extra && field.kind === 'boolean' ? { type: 'boolean' } : field.schema} root={root} describedBy={said} />
      {field.hint ? (
        <div id={said} className="t11 fnt mt-1">
          {field.hint}
        </div>
      ) : null}
    </div>
  )
}
