/** Starting a run by hand: a form made of what the workflow takes, or JSON. */
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { ApiError, at, byField, post } from '@/api/client'
import type { Schema } from '@/api/operations'
import { useDraft, useVersion, useWorkflows } from '@/api/queries'
import type { Run } from '@/api/types'
import { t } from '@/messages'
import { Button, Dialog, Field, Segments, Select, TextInput } from '@/ui'
import { jsonText } from '@/ui/json'
import { letGo, useKept } from '@/ui/kept'
import { JsonField, SchemaForm, begun, filledIn, lacking, lackingSaid, readJson } from '@/ui/schema-form'
import { useActing } from '@/run/acting'
import { Refused } from '@/run/dialogs'
import type { Said } from '@/run/facts'
import { useOnce } from '@/run/once'

export default function StartDialog({ workflow, onClose }: { workflow?: string; onClose: () => void }) {
  const workflows = useWorkflows().data?.items.filter((each) => each.published_version !== null) ?? []
  const [name, setName] = useKept(`start ${workflow ?? '*'} of`, () => workflow ?? '')
  const chosen = name || workflows[0]?.name || ''
  return (
    <Dialog open onClose={onClose} title={t('ru.start')} detail={chosen ? t('ru.startDetail') : t('ru.startNone')}>
      {workflow ? null : (
        <div className="mb-3">
          <Field label={t('ru.workflow')}>{(ids) => <Select {...ids} label={t('ru.workflow')} value={chosen} options={workflows.map((each) => ({ value: each.name, label: each.title ?? each.name }))} onChange={setName} />}</Field>
        </div>
      )}
      {chosen ? <StartForm key={chosen} name={chosen} onClose={onClose} /> : null}
    </Dialog>
  )
}

interface Entries {
  mode: 'form' | 'json'
  value: Record<string, unknown> | null
  /** The input as JSON, as far as it is written; a change of the form replaces it. */
  text: string | undefined
  subject: string
  key: string
  labels: string
}

const NOTHING: Entries = { mode: 'form', value: null, text: undefined, subject: '', key: '', labels: '' }

function StartForm({ name, onClose }: { name: string; onClose: () => void }) {
  const navigate = useNavigate()
  const version = useDraft(name).data?.published_version ?? undefined
  const definition = useVersion(name, version).data?.definition as unknown as Said | undefined
  const schema = definition?.params as Schema | undefined
  const kept = `start ${name}`
  const [entries, setEntries] = useKept(kept, () => NOTHING)
  const { mode, value, text, subject, key, labels } = entries
  const enter = (changes: Partial<Entries>) => setEntries({ ...entries, ...changes })
  const leave = () => {
    letGo(kept)
    onClose()
  }
  const [fields, setFields] = useState<Record<string, string>>({})
  const { busy, error, act } = useActing([['runs'], ['workflows'], ['pulse']], true)
  const hasForm = Object.keys(schema?.properties ?? {}).length > 0
  const filled = value ?? begun(schema)
  const form = hasForm && mode === 'form'
  const example = hasForm ? undefined : schema?.examples?.[0]
  const json = readJson(text ?? jsonText(example)) // what is shown is sent
  const once = useOnce(entries)
  const start = () =>
    act(async () => {
      try {
        const made = await post<Run>(at`/api/workflows/${name}/runs`, {
          ...(subject ? { subject } : {}),
          idempotency_key: key || once,
          ...(labels.trim() ? { labels: labelsOf(labels) } : {}),
          input: form ? filledIn(schema, filled) : (json.read ?? (hasForm ? filled : null)),
        })
        leave()
        await navigate({ to: '/app/runs/$id', params: { id: made.id } })
      } catch (failed) {
        if (failed instanceof ApiError) setFields(byField(failed.errors, 'input'))
        throw failed
      }
    })
  return (
    <form
      className="col gap-3"
      onSubmit={(event) => {
        event.preventDefault()
        if (form && lacking(schema, filled).length > 0) setFields(lackingSaid(schema, filled))
        else void start()
      }}
    >
      <Field label={t('ru.subject')} hint={t('ru.subjectHint')}>
        {(ids) => <TextInput {...ids} value={subject} onChange={(event) => enter({ subject: event.target.value })} />}
      </Field>
      {hasForm ? (
        <div className="row">
          <b className="t12 grow">{t('rp.input')}</b>
          <Segments size="s" label={t('ru.inputAs')} value={mode} choices={[{ value: 'form', label: t('ru.asForm') }, { value: 'json', label: 'JSON' }]} onChange={(mode) => enter({ mode })} />
        </div>
      ) : null}
      {form && schema ? (
        <SchemaForm
          schema={schema}
          value={filled}
          errors={fields}
          onChange={(next) => {
            enter({ value: next, text: undefined })
            setFields({})
          }}
        />
      ) : (
        <Field label={t('rp.input')} hint={t('rp.jsonHint')}>
          {(ids) => <JsonField id={ids.id} rows={6} value={hasForm ? filled : example} begin={text} onText={(_, text) => enter({ text })} />}
        </Field>
      )}
      <div className="grid grid-cols-2 gap-3">
        <Field label={t('ru.key')} hint={t('ru.keyHint')}>
          {(ids) => <TextInput {...ids} value={key} onChange={(event) => enter({ key: event.target.value })} />}
        </Field>
        <Field label={t('rp.labels')} hint={t('ru.labelsHint')}>
          {(ids) => <TextInput {...ids} value={labels} onChange={(event) => enter({ labels: event.target.value })} />}
        </Field>
      </div>
      <Refused error={error} />
      <div className="flex justify-end gap-2">
        <Button onClick={leave}>{t('act.leave')}</Button>
        <Button type="submit" kind="primary" busy={busy} disabled={version === undefined || (!form && json.error !== null)}>
          {t('ru.startDo')}
        </Button>
      </div>
    </form>
  )
}

/** "course=7, team=red" as an object. */
export const labelsOf = (text: string): Record<string, string> =>
  Object.fromEntries(
    text.split(',').flatMap((part) => {
      const [name, ...rest] = part.split('=')
      return name?.trim() ? [[name.trim(), rest.join('=').trim()]] : []
    }),
  )
