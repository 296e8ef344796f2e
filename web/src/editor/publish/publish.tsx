/** The dialog that publishes: what changes, what the checks say, a note; errors hold it back. */
import { useQuery } from '@tanstack/react-query'
import { useEffect, useMemo, useRef, useState } from 'react'
import { ApiError, ask, at, get } from '@/api/client'
import { cache, useVersion } from '@/api/queries'
import { useRights } from '@/api/rights'
import type { Draft, Finding, Published } from '@/api/types'
import type { Definition } from '@/diagram/definition'
import { t } from '@/messages'
import { Button, Dialog, Field, Icon, Switch, TextArea, toast } from '@/ui'
import { letGo, useKept } from '@/ui/kept'
import { sorted } from '../problems/fixes'
import { findingText } from '../problems/texts'
import { isPublished, reload, useEditor } from '../store'
import { useVerdict } from '../topbar'
import { differing, lineDiff } from './diff'
import { DiffLines } from './lines'

interface Plan {
  note: string
  start: boolean
  accepted: boolean
  override: boolean
  reason: string
}

/** What is in the way, and whether the plan gets around it. */
function usePlan(plan: Plan) {
  const { definition, save, report } = useEditor()
  const verdict = useVerdict()
  const findings = useMemo(() => sorted(report?.findings ?? [], definition), [report, definition])
  const errors = findings.filter((finding) => finding.severity === 'error')
  const warnings = findings.filter((finding) => finding.severity === 'warning')
  const empty = Object.keys(definition.steps).length === 0
  const refuted = verdict.kind === 'refuted'
  const blocked = refuted || verdict.kind === 'unreadable' || verdict.kind === 'unchecked' || empty
  const settled = blocked ? refuted && plan.override && plan.reason.trim() !== '' : warnings.length === 0 || plan.accepted
  const checking = verdict.kind === 'checking'
  return { unchecked: verdict.kind === 'unchecked', errors, warnings, empty, refuted, blocked, settled, ready: save === 'saved' && !checking, soon: save === 'saved' || save === 'saving' || save === 'unsaved' }
}

async function publish(plan: Plan, blocked: boolean): Promise<number> {
  const { name, etag, started } = useEditor.getState()
  const { value } = await ask<Published>('POST', at`/api/workflows/${name}/publish`, {
    json: { note: plan.note.trim() || null, start: plan.start === started ? null : plan.start, override: blocked ? plan.reason.trim() : null },
    headers: etag ? { 'If-Match': `"${etag}"` } : {},
  })
  await reload()
  void cache.invalidateQueries({ queryKey: ['workflow'] })
  return value.version
}

export default function Publish({ onClose, onStart }: { onClose: () => void; onStart: () => void }) {
  const { name, definition, published, started, save } = useEditor()
  const api = ((definition.source as { kind?: string } | undefined)?.kind ?? 'api') === 'api'
  const kept = `publish ${name}`
  const [words, setWords] = useKept(kept, () => ({ note: '', reason: '' }))
  const [choices, setChoices] = useState({ start: started || (published === null && api), accepted: false, override: false })
  const plan: Plan = { ...choices, ...words }
  const [busy, setBusy] = useState(false)
  const [refusal, setRefusal] = useState<string | null>(null)
  const admin = useRights().administers
  const { errors, warnings, empty, refuted, blocked, settled, ready, soon, unchecked } = usePlan(plan)
  const [wanted, setWanted] = useState(false)
  const set = ({ note = words.note, reason = words.reason, ...rest }: Partial<Plan>) => {
    setWords({ note, reason })
    setChoices({ ...choices, ...rest })
  }
  const leave = () => {
    letGo(kept)
    onClose()
  }
  const version = (published ?? 0) + 1
  const same = useEditor(isPublished)

  const go = async () => {
    setBusy(true)
    setRefusal(null)
    try {
      const made = await publish(plan, blocked)
      toast({ id: 'published', kind: 'ok', title: t('publish.done', { n: made }), detail: plan.start ? t('publish.doneStarted') : t('publish.doneStopped'), action: { label: t('ru.start'), run: onStart }, lasts: 12_000 })
      leave()
    } catch (error) {
      if (error instanceof ApiError && error.status === 412) await takenOver(name)
      setRefusal(error instanceof ApiError ? sayRefusal(error) : String(error))
    } finally {
      setBusy(false)
    }
  }

  // What was pressed while the last change was on its way is done when that has arrived, and is still sound.
  const next = useRef(go)
  next.current = go
  useEffect(() => {
    if (!wanted || !ready) return
    setWanted(false)
    if (settled) void next.current()
  }, [wanted, ready, settled])

  if (same && published !== null) return <Dialog open onClose={onClose} title={t('publish.done', { n: published })} detail={t('publish.same', { n: published })} actions={<Button onClick={onClose}>{t('act.close')}</Button>} />
  return (
    <Dialog
      open
      onClose={onClose}
      width={620}
      title={t('publish.title', { n: version })}
      detail={published === null ? t('publish.first') : t('publish.next', { n: published })}
      actions={
        <>
          <Button onClick={leave}>{t('act.cancel')}</Button>
          <Button kind={blocked && plan.override ? 'danger' : 'primary'} busy={busy || wanted} disabled={!settled || !soon} onClick={() => setWanted(true)}>
            {blocked && plan.override ? t('publish.override', { n: version }) : t('publish.do', { n: version })}
          </Button>
        </>
      }
    >
      <div className="col gap-3 t12">
        <Unsaved save={save} />
        {refusal ? <Said tint="bad" text={refusal} /> : null}
        {blocked ? <Blocked errors={unchecked ? [] : errors} empty={empty} unchecked={unchecked} /> : <Warned warnings={warnings} accepted={plan.accepted} onAccept={(accepted) => set({ accepted })} />}
        <Field label={t('publish.note')} hint={t('publish.noteHint')}>
          {(ids) => <TextArea {...ids} rows={2} value={plan.note} onChange={(event) => set({ note: event.target.value })} />}
        </Field>
        <div className="row">
          <Switch label={t('publish.start')} checked={plan.start} onChange={(start) => set({ start })} />
          <span className="grow">{t('publish.start')}</span>
        </div>
        {refuted && admin ? <Override plan={plan} set={set} /> : null}
        {published === null ? null : <Changes name={name} published={published} definition={definition} />}
      </div>
    </Dialog>
  )
}

function Unsaved({ save }: { save: string }) {
  if (save === 'saved') return null
  return <Said tint="warn" text={t(save === 'conflict' ? 'publish.conflict' : save === 'gone' ? 'publish.gone' : save === 'refused' ? 'publish.refused' : save === 'away' || save === 'unread' ? 'publish.away' : 'publish.saving')} />
}

function Warned({ warnings, accepted, onAccept }: { warnings: Finding[]; accepted: boolean; onAccept: (accepted: boolean) => void }) {
  if (warnings.length === 0) return null
  return (
    <div className="fnote warn">
      <FindingLines findings={warnings} />
      <label className="row mt-2">
        <input type="checkbox" className="chkbox" checked={accepted} onChange={(event) => onAccept(event.target.checked)} />
        {t('publish.accept', { n: warnings.length })}
      </label>
    </div>
  )
}

/** What the checks refute, an administrator can publish with a reason. */
function Override({ plan, set }: { plan: Plan; set: (changes: Partial<Plan>) => void }) {
  return (
    <div className="col gap-2">
      <label className="row">
        <input type="checkbox" className="chkbox" checked={plan.override} onChange={(event) => set({ override: event.target.checked })} />
        {t('publish.overrideAsk')}
      </label>
      {plan.override ? (
        <Field label={t('publish.reason')} aside={t('publish.kept')}>
          {(ids) => <TextArea {...ids} rows={2} value={plan.reason} onChange={(event) => set({ reason: event.target.value })} />}
        </Field>
      ) : null}
    </div>
  )
}

const sayRefusal = (error: ApiError): string => (error.status === 412 ? t('publish.taken') : error.status === 403 ? t('publish.notAllowed') : error.detail)

/** Somebody else saved: theirs is fetched, and the two can be compared. */
async function takenOver(name: string): Promise<void> {
  const { value } = await ask<Draft>('GET', at`/api/workflows/${name}`)
  useEditor.setState({ save: 'conflict', theirs: value })
}

function Said({ tint, text }: { tint: string; text: string }) {
  return (
    <div className={`fnote ${tint}`} role="alert">
      {text}
    </div>
  )
}

function Blocked({ errors, empty, unchecked }: { errors: Finding[]; empty: boolean; unchecked: boolean }) {
  return (
    <div className="fnote bad">
      <b>{empty ? t('publish.empty') : unchecked ? t('publish.unchecked') : errors.length > 0 ? t('publish.blocked', { n: errors.length }) : t('publish.unreadable')}</b>
      <FindingLines findings={errors} />
    </div>
  )
}

function FindingLines({ findings }: { findings: Finding[] }) {
  return (
    <ul className="col gap-1 mt-1 max-h-[20vh] overflow-auto">
      {findings.map((finding) => (
        <li key={`${finding.code} ${finding.step} ${finding.message}`} className="row items-start">
          <span className={finding.severity === 'error' ? 'bad' : 'warn'}>
            <Icon name={finding.severity === 'error' ? 'error' : 'warning'} size="s" />
          </span>
          <span>{findingText(finding).sentence}</span>
        </li>
      ))}
    </ul>
  )
}

/** Against what is published: which steps, and the lines of the text. */
function Changes({ name, published, definition }: { name: string; published: number; definition: Definition }) {
  const version = useVersion(name, published).data
  const draft = useQuery({ queryKey: ['workflow', name, 'text', useEditor.getState().etag], queryFn: ({ signal }) => get<Draft>(at`/api/workflows/${name}`, signal) }).data
  if (!version || !draft) return null
  const parts = differing(version.definition as unknown as Definition, definition)
  return (
    <details>
      <summary className="cursor-pointer">{t('publish.diff', { n: published, count: parts.filter((each) => each.step).length })}</summary>
      <ul className="row flex-wrap gap-1 my-2">
        {parts.map((each) => (
          <li key={`${each.step} ${each.key}`} className="tag">
            {each.kind === 'added' ? '+ ' : each.kind === 'removed' ? '− ' : '± '}
            <bdi>{each.key}</bdi>
          </li>
        ))}
      </ul>
      <DiffLines lines={lineDiff(version.text, draft.text)} />
    </details>
  )
}
