/** What the sections of the inspector are made of. */
import { type ReactNode, useId, useMemo, useRef, useState } from 'react'
import type { Finding } from '@/api/types'
import { ENDS, type Definition, eventsOf, externalsOf, portsOf } from '@/diagram/definition'
import { hovers } from '@/diagram/hover'
import { t } from '@/messages'
import { EventPill, Icon, IconButton } from '@/ui'
import { FixButtons, findingText } from '../problems/texts'
import { type Part, partOf } from '../problems/fixes'
import { findingsOf, useEditor } from '../store'

export function Section({ title, aside, children, open, onToggle }: { title: string; aside?: ReactNode; children: ReactNode; open?: boolean; onToggle?: () => void }) {
  const id = useId()
  const folds = onToggle !== undefined
  return (
    <section className="sec" aria-labelledby={id}>
      <h3 aria-level={2} className={folds && !open ? 'mb-0!' : ''}>
        {folds ? (
          <button type="button" className="row gap-1" id={id} aria-expanded={open} onClick={onToggle}>
            <Icon name={open ? 'down' : 'right'} size="s" />
            {title}
          </button>
        ) : (
          <span id={id}>{title}</span>
        )}
        {aside}
      </h3>
      {!folds || open ? children : null}
    </section>
  )
}

const OPENED = 'penstock.inspector.open'

/** A section that is folded until somebody wants it, or has something in it; what was opened is remembered. */
export function Folding({ id, title, filled, children, aside }: { id: string; title: string; filled: boolean; children: ReactNode; aside?: ReactNode }) {
  const [opened, setOpened] = useState<Record<string, boolean>>(() => JSON.parse(localStorage.getItem(OPENED) ?? '{}') as Record<string, boolean>)
  const open = opened[id] ?? filled
  return (
    <Section
      title={title}
      aside={aside}
      open={open}
      onToggle={() => {
        const next = { ...opened, [id]: !open }
        localStorage.setItem(OPENED, JSON.stringify(next))
        setOpened(next)
      }}
    >
      {children}
    </Section>
  )
}

/** What the checks say of this part of a step, with the fix as a button. */
export function Findings({ step, part }: { step: string; part: Part }) {
  const findings = useEditor(findingsOf)
  const own = useMemo(() => findings.filter((finding) => finding.step === step && partOf(finding) === part), [findings, step, part])
  return (
    <>
      {own.map((finding) => (
        <FindingNote key={`${finding.code} ${finding.event} ${finding.message}`} finding={finding} />
      ))}
    </>
  )
}

const TINTS: Record<Finding['severity'], string> = { error: 'bad', warning: 'warn', info: 'idle' }

export function FindingNote({ finding }: { finding: Finding }) {
  const { sentence, hint } = findingText(finding)
  return (
    <div className={`fnote ${TINTS[finding.severity]}`}>
      <div>{sentence}</div>
      {hint ? <div className="mut">{hint}</div> : null}
      <div className="row flex-wrap mt-1.5 empty:hidden">
        <FixButtons finding={finding} />
      </div>
    </div>
  )
}

/** An event as a pill; those that end the run look like their ends. */
export function Pill({ name, bad = false }: { name: string; bad?: boolean }) {
  const outside = useEditor((state) => externalsOf(state.definition).includes(name))
  if ((ENDS as readonly string[]).includes(name)) {
    return (
      <span className={`end flat ${name === 'OK' ? 'okk' : 'ff'}`}>
        <Icon name={name === 'OK' ? 'check' : 'cross'} size="xs" />
        {name}
      </span>
    )
  }
  return (
    <span className="inline-flex min-w-0" {...hovers(name)}>
      <EventPill name={name} outside={outside} bad={bad} here={bad} />
    </span>
  )
}

/** Every event that can be named: fired, from outside, and those that steps fire by their names. */
export function namesOf(definition: Definition, waiting: boolean): string[] {
  const own = Object.entries(definition.steps).flatMap(([name, step]) => [name, ...portsOf(step).map((port) => `${name}.${port}`)])
  const listed = eventsOf(definition).filter((event) => !own.includes(event))
  return waiting ? [...new Set([...listed, 'START', ...own, 'FAIL', 'CANCEL', 'TIMEOUT'])] : [...new Set([...listed.filter((event) => event !== 'START' && event !== 'TIMEOUT'), ...ENDS])]
}

const NAME = /^[\p{L}\p{N} _.\-/()]{1,128}$/u

/** A place to name one more event: known ones are proposed. */
export function AddEvent({ label, waiting, onAdd, small = false }: { label: string; waiting: boolean; onAdd: (event: string) => void; small?: boolean }) {
  const definition = useEditor((state) => state.definition)
  const [open, setOpen] = useState(false)
  const [wrong, setWrong] = useState('')
  const list = useId()
  const opener = useRef<HTMLButtonElement>(null)
  const names = useMemo(() => (open ? namesOf(definition, waiting) : []), [definition, waiting, open])
  const end = () => {
    setOpen(false)
    setWrong('')
    requestAnimationFrame(() => opener.current?.focus())
  }
  const add = (text: string) => {
    const name = text.trim()
    if (!name) return end()
    if (!NAME.test(name) || (waiting ? name === 'OK' : name === 'START' || name === 'TIMEOUT')) return setWrong(NAME.test(name) ? t('inspector.notThisEvent', { name }) : t('finder.badName'))
    onAdd(name)
    end()
  }
  if (!open) {
    return small ? (
      <button ref={opener} type="button" className="fx" aria-label={label} title={label} onClick={() => setOpen(true)}>
        <Icon name="plus" size="s" />
      </button>
    ) : (
      <button ref={opener} type="button" className="btn g sm -ms-2 self-start" onClick={() => setOpen(true)}>
        <Icon name="plus" size="s" />
        {label}
      </button>
    )
  }
  return (
    <div className="w-full">
      <input
        className="f"
        aria-label={label}
        aria-invalid={wrong ? true : undefined}
        placeholder={label}
        list={list}
        // biome-ignore lint/a11y/noAutofocus: it was asked for by the button in whose place it is
        autoFocus
        onKeyDown={(event) => {
          if (event.key === 'Enter') add(event.currentTarget.value)
          if (event.key === 'Escape') {
            event.stopPropagation()
            end()
          }
        }}
        onBlur={(event) => (event.target.value.trim() ? add(event.target.value) : setOpen(false))}
      />
      <datalist id={list}>
        {names.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      {wrong ? <div className="t11 bad mt-1">{wrong}</div> : null}
    </div>
  )
}

export function RemoveButton({ label, onClick }: { label: string; onClick: () => void }) {
  return <IconButton icon="cross" size="s" label={label} onClick={onClick} />
}
