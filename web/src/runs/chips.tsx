/** The filter as chips: each says what it asks for and can be taken away; a new one is chosen from a list. */
import { type FormEvent, useState } from 'react'
import { useWorkflows } from '@/api/queries'
import { isMessage, t } from '@/messages'
import { Button, Field, Icon, Popover, RUN_LOOKS, Select, TextInput } from '@/ui'
import { CHIPS, type Filter, type Part, without } from './filters'

const PART_TEXT = { status: 'ru.f.status', workflow: 'ru.f.workflow', version: 'ru.f.version', subject: 'ru.f.subject', parent: 'ru.f.parent', label: 'ru.f.label', key: 'ru.f.key', step: 'ru.f.step', waiting_for: 'ru.f.waiting_for', since: 'ru.f.since', until: 'ru.f.until', q: 'ru.f.q' } as const

export const partText = (part: Part): string => t(PART_TEXT[part])

/** What a part asks for, in words. */
export function valueText(part: Part, value: string, title: (name: string) => string): string {
  if (part === 'status') return value.split(',').map((each) => (isMessage(`run.${each}`) ? t(`run.${each}` as 'run.failed') : each)).join(', ')
  if (part === 'workflow') return title(value)
  const span = /^(\d+)([hd])$/.exec(value)
  if (span && part === 'since') return span[2] === 'h' ? t('ru.lastHours', { n: Number(span[1]) }) : t('ru.lastDays', { n: Number(span[1]) })
  return value
}

export function FilterChips({ filter, onChange }: { filter: Filter; onChange: (filter: Filter) => void }) {
  const workflows = useWorkflows().data?.items ?? []
  const title = (name: string) => workflows.find((each) => each.name === name)?.title ?? name
  return (
    <>
      {CHIPS.map((part) => {
        const value = filter[part]
        if (!value) return null
        const said = valueText(part, value, title)
        return (
          <span key={part} className="fchip">
            <span className="mut">{partText(part)}</span>
            <span className="ell">
              <bdi>{said}</bdi>
            </span>
            <button type="button" aria-label={t('ru.removeFilter', { part: partText(part), value: said })} onClick={() => onChange(without(filter, part))}>
              <Icon name="cross" size="xs" />
            </button>
          </span>
        )
      })}
      <AddFilter filter={filter} onChange={onChange} />
    </>
  )
}

function AddFilter({ filter, onChange }: { filter: Filter; onChange: (filter: Filter) => void }) {
  const [open, setOpen] = useState(false)
  const [part, setPart] = useState<Part>('status')
  const add = (value: string) => {
    onChange({ ...filter, [part]: value })
    setOpen(false)
  }
  return (
    <Popover
      label={t('ru.addFilter')}
      open={open}
      onOpenChange={setOpen}
      trigger={
        <Button className="dash" icon="plus">
          {t('ru.filter')}
        </Button>
      }
    >
      <div className="col w-[260px] gap-3">
        <Field label={t('ru.filterBy')}>{(ids) => <Select {...ids} label={t('ru.filterBy')} value={part} options={CHIPS.map((each) => ({ value: each, label: partText(each) }))} onChange={setPart} />}</Field>
        <ValueField key={part} part={part} value={filter[part] ?? ''} onSet={add} />
      </div>
    </Popover>
  )
}

const SPANS = ['1h', '24h', '7d', '30d']

function ValueField({ part, value, onSet }: { part: Part; value: string; onSet: (value: string) => void }) {
  const workflows = useWorkflows().data?.items ?? []
  const [text, setText] = useState(value)
  const [statuses, setStatuses] = useState(() => new Set(value.split(',').filter(Boolean)))
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (text.trim()) onSet(text.trim())
  }
  if (part === 'status') {
    return (
      <div className="col gap-1">
        {Object.entries(RUN_LOOKS).map(([status, look]) => (
          <label key={status} className="row t12 min-h-6 cursor-pointer">
            <input
              type="checkbox"
              className="accent-[var(--accent)]"
              checked={statuses.has(status)}
              onChange={(event) => {
                const next = new Set(statuses)
                if (event.target.checked) next.add(status)
                else next.delete(status)
                setStatuses(next)
              }}
            />
            {t(look.text)}
          </label>
        ))}
        <Button kind="primary" className="justify-center" disabled={statuses.size === 0} onClick={() => onSet([...statuses].join(','))}>
          {t('ru.apply')}
        </Button>
      </div>
    )
  }
  if (part === 'workflow') return <Select label={partText(part)} value={value} options={workflows.map((each) => ({ value: each.name, label: each.title ?? each.name }))} onChange={onSet} />
  return (
    <form className="col gap-2" onSubmit={submit}>
      {part === 'since' ? (
        <div className="row flex-wrap">
          {SPANS.map((span) => (
            <Button key={span} size="s" onClick={() => onSet(span)}>
              {valueText('since', span, String)}
            </Button>
          ))}
        </div>
      ) : null}
      <Field label={partText(part)} hint={part === 'label' || part === 'key' ? t('ru.nameValue') : part === 'since' || part === 'until' ? t('ru.momentHint') : undefined}>
        {(ids) => <TextInput {...ids} value={text} onChange={(event) => setText(event.target.value)} />}
      </Field>
      <Button type="submit" kind="primary" className="justify-center" disabled={!text.trim()}>
        {t('ru.apply')}
      </Button>
    </form>
  )
}
