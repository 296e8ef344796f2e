/** What can be done to a run that asks something first. */
import { useNavigate } from '@tanstack/react-router'
import { useId, useState } from 'react'
import { at, post } from '@/api/client'
import { useTasks } from '@/api/queries'
import type { EventTaken, Run } from '@/api/types'
import { type Step, portsOf } from '@/diagram/definition'
import { t } from '@/messages'
import { Button, Dialog, Field, Select, Switch, TextInput } from '@/ui'
import { JsonField } from '@/ui/schema-form'
import { toast } from '@/ui/toasts'
import { useActing } from './acting'
import { type Said, externalsOf, stepsOf, titleOf } from './facts'
import { useOnce } from './once'
import { undoable } from './undo'

export interface Asking {
  run: Run
  said: Said | undefined
  onClose: () => void
}

function Foot({ busy, disabled, label, danger, onClose, onDo }: { busy: boolean; disabled?: boolean; label: string; danger?: boolean; onClose: () => void; onDo: () => void }) {
  return (
    <>
      <Button onClick={onClose}>{t('act.leave')}</Button>
      <Button kind={danger ? 'danger' : 'primary'} busy={busy} disabled={disabled} onClick={onDo}>
        {label}
      </Button>
    </>
  )
}

export function Refused({ error }: { error: string | null }) {
  return error ? (
    <div className="bad t12 mt-2 whitespace-pre-line" role="alert">
      {error}
    </div>
  ) : null
}

/** What the run made of an event: one that it only recorded moved nothing. */
function tellTaken(event: string, { status }: EventTaken): void {
  if (status !== 'recorded') toast({ kind: 'ok', title: t('rp.fired', { event }) })
  else toast({ kind: 'warn', title: t('rp.recorded', { event }), detail: t('rp.recordedDetail'), lasts: 10_000 })
}

export function FireDialog({ run, said, onClose, event }: Asking & { event?: string }) {
  const names = externalsOf(said)
  const [name, setName] = useState(event ?? run.waiting_for.find((each) => names.includes(each)) ?? names[0] ?? '')
  const [data, setData] = useState<unknown>(undefined)
  const [wrong, setWrong] = useState<string | null>(null)
  const { busy, error, act } = useActing([['run', run.id], ['runs']], true)
  const id = useOnce([name, data])
  const fire = () => act(async () => tellTaken(name, await post<EventTaken>(at`/api/runs/${run.id}/events`, { event: name, id, ...(data === undefined ? {} : { data }) }))).then((done) => done && onClose())
  return (
    <Dialog open onClose={onClose} title={t('rp.fire')} detail={names.length === 0 ? t('rp.fireNone') : t('rp.fireDetail')} actions={<Foot busy={busy} disabled={!name || wrong !== null} label={t('rp.fireDo')} onClose={onClose} onDo={() => void fire()} />}>
      <div className="col gap-3">
        <Field label={t('rp.event')}>{(ids) => <Select {...ids} label={t('rp.event')} value={name} options={names.map((each) => ({ value: each, label: each }))} onChange={setName} disabled={names.length === 0} />}</Field>
        <Field label={t('rp.data')} hint={t('rp.jsonHint')}>
          {(ids) => <JsonField id={ids.id} value={undefined} onChange={setData} onText={setWrong} />}
        </Field>
      </div>
      <Refused error={error} />
    </Dialog>
  )
}

export function CancelDialog({ run, onClose }: Asking) {
  const [reason, setReason] = useState('')
  const [force, setForce] = useState(false)
  const id = useId()
  const cancel = () => {
    undoable({ title: t('undo.cancel', { name: run.subject ?? run.id }), work: () => post(at`/api/runs/${run.id}/cancel`, { force, ...(reason ? { reason } : {}) }), done: t('rp.canceled'), keys: [['run', run.id], ['runs']] })
    onClose()
  }
  return (
    <Dialog open onClose={onClose} title={t('rp.cancelTitle')} detail={t('rp.cancelDetail')} actions={<Foot danger busy={false} label={t('rp.cancelDo')} onClose={onClose} onDo={cancel} />}>
      <div className="col gap-3">
        <Field label={t('rp.reason')}>{(ids) => <TextInput {...ids} value={reason} onChange={(event) => setReason(event.target.value)} />}</Field>
        <div className="row t12">
          <Switch id={id} label={t('rp.force')} checked={force} onChange={setForce} />
          <label htmlFor={id}>{t('rp.force')}</label>
        </div>
      </div>
    </Dialog>
  )
}

const START = '\u0000'

export function RerunDialog({ run, said, onClose, from, newest }: Asking & { from?: string; newest?: number | null }) {
  const navigate = useNavigate()
  const [step, setStep] = useState(from ?? START)
  const [version, setVersion] = useState(String(run.version))
  const [input, setInput] = useState<unknown>(run.input)
  const [wrong, setWrong] = useState<string | null>(null)
  const { busy, error, act } = useActing([['runs']], true)
  const rerun = () =>
    act(async () => {
      const made = await post<Run>(at`/api/runs/${run.id}/rerun`, { version: Number(version), ...(step === START ? { input: input ?? null } : { from: step }) })
      onClose()
      await navigate({ to: '/app/runs/$id', params: { id: made.id } })
    }, t('rp.rerunDone'))
  const versions = [...new Set([run.version, newest ?? run.version])]
  return (
    <Dialog open onClose={onClose} title={t('rp.rerun')} detail={t('rp.rerunDetail')} actions={<Foot busy={busy} disabled={wrong !== null} label={t('rp.rerunDo')} onClose={onClose} onDo={() => void rerun()} />}>
      <div className="col gap-3">
        <Field label={t('rp.rerunFrom')}>{(ids) => <Select {...ids} label={t('rp.rerunFrom')} value={step} options={[{ value: START, label: t('rp.fromStart') }, ...stepsOf(said).map((each) => ({ value: each, label: titleOf(said, each) }))]} onChange={setStep} />}</Field>
        <Field label={t('rp.version')}>{(ids) => <Select {...ids} label={t('rp.version')} value={version} options={versions.map((each) => ({ value: String(each), label: `v${each}` }))} onChange={setVersion} />}</Field>
        {step === START ? (
          <Field label={t('rp.input')} hint={t('rp.jsonHint')}>
            {(ids) => <JsonField id={ids.id} rows={5} value={run.input} onChange={setInput} onText={setWrong} />}
          </Field>
        ) : null}
      </div>
      <Refused error={error} />
    </Dialog>
  )
}

export function SkipDialog({ run, said, onClose, step }: Asking & { step: string }) {
  const offers = useTasks().data?.items ?? []
  const ports = portsOf((said?.steps?.[step] ?? {}) as Step, Object.fromEntries(offers.map((each) => [each.name, each])))
  const [chosen, setPort] = useState<string | null>(null)
  const port = chosen ?? ports[0] ?? 'done' // the ports of a worker's task come later
  const [output, setOutput] = useState<unknown>(undefined)
  const [wrong, setWrong] = useState<string | null>(null)
  const [reason, setReason] = useState('')
  const skip = () => {
    undoable({ title: t('undo.skip', { step: titleOf(said, step) }), work: () => post(at`/api/runs/${run.id}/steps/${step}/skip`, { port, output: output ?? null, ...(reason ? { reason } : {}) }), done: t('rp.skipped', { step: titleOf(said, step) }), keys: [['run', run.id], ['runs'], ['incidents']] })
    onClose()
  }
  return (
    <Dialog open onClose={onClose} title={t('rp.skipTitle', { step: titleOf(said, step) })} detail={t('rp.skipDetail')} actions={<Foot busy={false} disabled={wrong !== null} label={t('rp.skipDo')} onClose={onClose} onDo={skip} />}>
      <div className="col gap-3">
        <Field label={t('rp.port')}>{(ids) => <Select {...ids} label={t('rp.port')} value={port} options={ports.map((each) => ({ value: each, label: each }))} onChange={setPort} />}</Field>
        <Field label={t('rp.output')} hint={t('rp.jsonHint')}>
          {(ids) => <JsonField id={ids.id} value={undefined} onChange={setOutput} onText={setWrong} />}
        </Field>
        <Field label={t('rp.reason')}>{(ids) => <TextInput {...ids} value={reason} onChange={(event) => setReason(event.target.value)} />}</Field>
      </div>
    </Dialog>
  )
}
