/** A condition: rows of field, operator and value, or the CEL that they are. Below it, what it comes to on the sample. */
import { type ReactNode, useId, useMemo, useState } from 'react'
import type { Definition } from '@/diagram/definition'
import { titleOf } from '@/diagram/definition'
import { t } from '@/messages'
import { Button, Icon, IconButton, Segments } from '@/ui'
import { LongValue, TextValue } from '../inspector/fields'
import { useEditor } from '../store'
import { usePinned } from '../try/sample'
import { ALONE, ALWAYS, OPERATORS, type Operator, type Row, type Rows, below, fieldText, fieldsIn, readRows, shownValue, typedValue, writtenOver } from './cel'
import { useScope, useValue } from './value'

export interface ConditionProps {
  title: string
  value: string
  onChange: (text: string | undefined) => void
  /** What follows where it holds, and where it does not. */
  yes?: string
  no?: string
  /** The port by which it goes on where it holds. */
  port?: string
  /** Not a condition but any value: rows make no sense then. */
  textOnly?: boolean
  more?: Record<string, unknown>
  aside?: ReactNode
}

const EMPTY_ROW: Row = { kind: 'row', field: '', op: '==', value: { kind: 'text', text: '' } }

export function Condition({ title, value, onChange, yes, no, port, textOnly = false, more, aside }: ConditionProps) {
  const rows = useMemo(() => (textOnly ? null : readRows(value)), [value, textOnly])
  const [asText, setAsText] = useState(false)
  const shown = asText || rows === null ? 'cel' : 'rows'
  const id = useId()
  return (
    <section className="sec" aria-labelledby={id}>
      <h3 aria-level={2}>
        <span id={id}>{title}</span>
        <span className="row gap-1">
          {aside}
          {textOnly ? null : (
            <Segments
              size="s"
              label={t('condition.as', { title })}
              value={shown}
              choices={[
                { value: 'rows', label: t('condition.rows') },
                { value: 'cel', label: 'CEL' },
              ]}
              onChange={(next) => setAsText(next === 'cel')}
            />
          )}
        </span>
      </h3>
      {shown === 'rows' && rows ? <RowsEditor title={title} rows={rows} text={value} onChange={onChange} more={more} /> : <LongValue label={t('condition.cel', { title })} value={value} rows={textOnly ? 1 : 2} mono onChange={(text) => onChange(text.trim() || undefined)} />}
      {rows === null && !textOnly ? <p className="t11 fnt mt-1">{t('condition.onlyText')}</p> : null}
      <Outcome text={value} yes={yes} no={no} port={port} more={more} />
    </section>
  )
}

/** "On run 4127: no, so the mail is sent." */
function Outcome({ text, yes, no, port, more }: Pick<ConditionProps, 'yes' | 'no' | 'port' | 'more'> & { text: string }) {
  const scope = useScope(more)
  const found = useValue(text, scope)
  const pinned = usePinned((state) => state.pinned)
  const tried = usePinned((state) => state.tried)
  if (text.trim() === ALWAYS) {
    return (
      <p className="t11 mut mt-1" role="status">
        {port ? t('condition.alwaysThen', { port }) : t('condition.always')}
      </p>
    )
  }
  if (!text.trim() || !found) return null
  const sample = tried ? t('condition.onTry') : pinned.from === 'run' && pinned.run ? t('condition.onRun', { run: pinned.run.slice(-6) }) : t('condition.onSample')
  const worth = typeof found.value === 'boolean' ? (found.value ? (yes ?? t('condition.yes')) : (no ?? t('condition.no'))) : JSON.stringify(found.value)
  const said = found.error ? t('condition.hasNone', { sample, why: found.error }) : t('condition.is', { sample, value: (worth ?? 'null').slice(0, 120) })
  return (
    <div className={`row items-start t11 mt-1 ${found.error ? 'warn' : 'mut'}`} role="status">
      <Icon name={found.error ? 'warning' : 'pin'} size="s" />
      <span className="min-w-0 break-words">{said}</span>
    </div>
  )
}

function RowsEditor({ title, rows, text, onChange, more }: { title: string; rows: Rows; text: string; onChange: (text: string | undefined) => void; more?: Record<string, unknown> }) {
  // Rows whose field is not chosen yet are not in the text: they live here as long as the text is theirs.
  const [mine, setMine] = useState<Rows | null>(null)
  const shown = mine && writtenOver(text, mine) === text ? mine : rows
  const change = (next: Rows) => {
    setMine(next)
    const written = writtenOver(text, next)
    if (written !== text) onChange(written || undefined)
  }
  return <Group title={title} rows={shown.items.length === 0 ? { ...shown, items: [EMPTY_ROW] } : shown} onChange={change} level={1} more={more} />
}

function Group({ title, rows, onChange, level, more }: { title: string; rows: Rows; onChange: (rows: Rows) => void; level: number; more?: Record<string, unknown> }) {
  const items = rows.items
  const change = (at: number, item: Row | Rows | null) => onChange({ ...rows, items: item === null ? items.filter((_each, index) => index !== at) : items.map((each, index) => (index === at ? item : each)) })
  const swap = () => onChange({ ...rows, join: rows.join === 'and' ? 'or' : 'and' })
  return (
    <div className={level > 1 ? 'rounded-2 border border-line p-1.5' : ''}>
      {items.map((item, at) => (
        <div key={at} className="crow">
          {at === 0 ? (
            <span className="cap">{level === 1 ? t('condition.if') : ''}</span>
          ) : (
            <button type="button" className="cap text-start underline decoration-dotted" aria-label={t('condition.swap', { join: rows.join === 'and' ? t('condition.and') : t('condition.or') })} onClick={swap}>
              {rows.join === 'and' ? t('condition.and') : t('condition.or')}
            </button>
          )}
          {item.kind === 'row' ? <RowEditor row={item} n={at + 1} onChange={(next) => change(at, next)} more={more} /> : <Group title={title} rows={item} level={level + 1} onChange={(next) => change(at, next.items.length > 0 ? next : null)} more={more} />}
          <IconButton icon="cross" size="s" label={t('condition.remove', { n: at + 1 })} onClick={() => change(at, null)} />
        </div>
      ))}
      <div className="row t12">
        <Button kind="ghost" size="s" icon="plus" className="-ms-2" onClick={() => onChange({ ...rows, items: [...items, EMPTY_ROW] })}>
          {t('condition.addRow')}
        </Button>
        {level < 2 ? (
          <Button kind="ghost" size="s" onClick={() => onChange({ ...rows, items: [...items, { kind: 'group', join: rows.join === 'and' ? 'or' : 'and', items: [EMPTY_ROW, EMPTY_ROW] }] })}>
            {t('condition.addGroup')}
          </Button>
        ) : null}
      </div>
    </div>
  )
}

const OTHER = '\u0000other'

/** The fields that can be chosen: those of the sample, those of the input, and what steps put out. */
export function useFields(more?: Record<string, unknown>): { field: string; text: string }[] {
  const scope = useScope(more)
  const definition = useEditor((state) => state.definition)
  return useMemo(() => {
    const found = new Set(fieldsIn(scope).map((each) => each.field))
    const inputs = (definition.params as { properties?: object } | undefined)?.properties ?? {}
    for (const name of Object.keys(inputs)) found.add(below('data', name))
    return [...found].filter((field) => !/^(run\.(version|workflow)|event\.(id|at)|events)/.test(field)).map((field) => ({ field, text: fieldText(field, titlesOf(definition)) }))
  }, [scope, definition])
}

const titlesOf = (definition: Definition) => (step: string) => titleOf(step, definition.steps[step])

function RowEditor({ row, n, onChange, more }: { row: Row; n: number; onChange: (row: Row) => void; more?: Record<string, unknown> }) {
  const fields = useFields(more)
  const definition = useEditor((state) => state.definition)
  const [own, setOwn] = useState(false)
  const known = fields.some((each) => each.field === row.field)
  const setOp = (op: Operator) => onChange({ ...row, op, value: ALONE.has(op) ? row.value : typedValue(shownValue(row.value), op) })
  return (
    <div className="cvals">
      {own ? (
        <div className="both">
          <TextValue label={t('condition.fieldOf', { n })} value={row.field} mono placeholder="data.user" onChange={(field) => onChange({ ...row, field: field.trim() })} />
        </div>
      ) : (
        <select
          className="f both"
          aria-label={t('condition.fieldOf', { n })}
          value={row.field}
          onChange={(event) => (event.target.value === OTHER ? setOwn(true) : onChange({ ...row, field: event.target.value }))}
        >
          {row.field === '' ? <option value="">{t('condition.chooseField')}</option> : null}
          {row.field && !known ? <option value={row.field}>{fieldText(row.field, titlesOf(definition))}</option> : null}
          {fields.map((each) => (
            <option key={each.field} value={each.field}>
              {each.text}
            </option>
          ))}
          <option value={OTHER}>{t('condition.otherField')}</option>
        </select>
      )}
      <select className={`f ${ALONE.has(row.op) ? 'both' : ''}`} aria-label={t('condition.operatorOf', { n })} value={row.op} onChange={(event) => setOp(event.target.value as Operator)}>
        {OPERATORS.map((op) => (
          <option key={op} value={op}>
            {t(`condition.op.${op}`)}
          </option>
        ))}
      </select>
      {ALONE.has(row.op) ? null : <TextValue label={t('condition.valueOf', { n })} value={shownValue(row.value)} onChange={(typed) => onChange({ ...row, value: typedValue(typed, row.op) })} />}
    </div>
  )
}
