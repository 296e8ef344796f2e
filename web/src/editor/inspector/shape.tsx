/** A form about a form: which fields somebody fills in, of which type, and which of them are needed. */
import { useState } from 'react'
import { t } from '@/messages'
import { IconButton, Segments } from '@/ui'
import { AddButton, JsonValue, TextValue } from './fields'
import { type Schema, spoken } from './schema'
import { TYPES, isSimple, ofType, putFields } from './shapes'

export type ShapeMode = 'fields' | 'schema'

export function ShapeModes({ label, schema, as, onChange }: { label: string; schema: Schema | undefined; as: ShapeMode; onChange: (as: ShapeMode) => void }) {
  return (
    <Segments
      size="s"
      label={label}
      value={isSimple(schema) ? as : 'schema'}
      choices={[
        { value: 'fields', label: t('inspector.asFields') },
        { value: 'schema', label: 'Schema' },
      ]}
      onChange={onChange}
    />
  )
}

/** A parameter that is a schema: its fields, or the schema itself. */
export function ShapeValue({ label, schema, onChange }: { label: string; schema: Schema | undefined; onChange: (schema: Schema | undefined) => void }) {
  const [as, setAs] = useState<ShapeMode>('fields')
  return (
    <div className="col gap-1">
      <ShapeModes label={t('inspector.shapeAs', { label })} schema={schema} as={as} onChange={setAs} />
      <ShapeFields label={label} schema={schema} as={as} onChange={onChange} />
    </div>
  )
}

export function ShapeFields({ label, schema, as, onChange }: { label: string; schema: Schema | undefined; as: ShapeMode; onChange: (schema: Schema | undefined) => void }) {
  if (!isSimple(schema) || as === 'schema') return <JsonValue label={label} value={schema} rows={10} onChange={(next) => onChange(next as Schema | undefined)} />
  const properties = schema?.properties ?? {}
  const required = schema?.required ?? []
  const put = (next: Record<string, Schema>, needed: string[]) => onChange(putFields(schema, next, needed))
  const rename = (from: string, to: string) => {
    if (to.trim() && !(to.trim() in properties)) put(Object.fromEntries(Object.entries(properties).map(([name, each]) => [name === from ? to.trim() : name, each])), required.map((name) => (name === from ? to.trim() : name)))
  }
  const free = () => {
    for (let n = 1; ; n++) if (!(`field${n}` in properties)) return `field${n}`
  }
  return (
    <div className="col gap-1">
      {Object.entries(properties).map(([name, each]) => (
        <div key={name} className="row gap-1">
          <span className="grow min-w-0" title={each.title ?? spoken(name)}>
            <TextValue label={t('inspector.paramName', { name })} value={name} onChange={(to) => rename(name, to)} />
          </span>
          <select className="f w-[86px]! flex-none" aria-label={t('inspector.paramType', { name })} value={typeof each.type === 'string' ? each.type : ''} onChange={(event) => put({ ...properties, [name]: ofType(each, event.target.value) }, required)}>
            {typeof each.type === 'string' ? null : <option value="">{t('inspector.anyType')}</option>}
            {TYPES.map((type) => (
              <option key={type} value={type}>
                {t(`type.${type}`)}
              </option>
            ))}
          </select>
          <input type="checkbox" className="chkbox" checked={required.includes(name)} aria-label={t('inspector.paramRequired', { name })} title={t('inspector.required')} onChange={(event) => put(properties, event.target.checked ? [...required, name] : required.filter((other) => other !== name))} />
          <IconButton icon="cross" size="s" label={t('inspector.removeNamed', { name })} onClick={() => put(Object.fromEntries(Object.entries(properties).filter(([other]) => other !== name)), required)} />
        </div>
      ))}
      <AddButton label={t('inspector.addParam')} text={t('inspector.addParam')} onClick={() => put({ ...properties, [free()]: { type: 'string' } }, required)} />
    </div>
  )
}
