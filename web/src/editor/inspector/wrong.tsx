/** When it goes wrong: how often it is tried again, after which pauses, and how long it may take. */
import { useId, type ReactNode } from 'react'
import { t } from '@/messages'
import { NumberValue, TextValue } from './fields'

export interface Policy {
  retries?: number
  backoff?: Record<string, unknown>
  timeout_retries?: number[]
  timeouts?: Record<string, unknown>
  warn_after?: unknown
  task_list?: string
  priority?: number
  parallel?: number
}

export type SetPolicy = (changes: Partial<Policy>) => void

/** A field with its name above, half as wide as the inspector. */
export function Half({ label, wide = false, children }: { label: string; wide?: boolean; children: (id: string) => ReactNode }) {
  const id = useId()
  return (
    <div className={`min-w-0 ${wide ? 'col-span-2' : ''}`}>
      <label className="lab" htmlFor={id}>
        <span>{label}</span>
      </label>
      {children(id)}
    </div>
  )
}

const shown = (value: unknown): string => (value === undefined || value === null ? '' : String(value))
const seconds = (text: string): unknown => (text.trim() === '' ? undefined : /^\d+(\.\d+)?$/.test(text.trim()) ? Number(text) : text.trim())

function without(values: Record<string, unknown> | undefined, key: string, value: unknown): Record<string, unknown> | undefined {
  const { [key]: _old, ...rest } = values ?? {}
  const made = value === undefined ? rest : { ...(values ?? {}), [key]: value }
  return Object.keys(made).length > 0 ? made : undefined
}

export function DurationField({ label, value, onChange, placeholder, wide }: { label: string; value: unknown; onChange: (value: unknown) => void; placeholder?: string; wide?: boolean }) {
  return (
    <Half label={label} wide={wide}>
      {(id) => <TextValue id={id} label={label} value={shown(value)} placeholder={placeholder} onChange={(text) => onChange(seconds(text))} />}
    </Half>
  )
}

/** The four that people ask for first, then the rest. */
export function PolicyFields({ policy, defaults = {}, onChange, all }: { policy: Policy; defaults?: Policy; onChange: SetPolicy; all: boolean }) {
  const time = (key: string, label: string) => <DurationField label={label} value={policy.timeouts?.[key]} placeholder={shown(defaults.timeouts?.[key] ?? (key === 'heartbeat' ? '60s' : ''))} onChange={(value) => onChange({ timeouts: without(policy.timeouts, key, value) })} />
  const pause = (key: string, label: string, usual: string) => <DurationField label={label} value={policy.backoff?.[key]} placeholder={shown(defaults.backoff?.[key] ?? usual)} onChange={(value) => onChange({ backoff: without(policy.backoff, key, value) })} />
  return (
    <div className="grid grid-cols-2 gap-x-2 gap-y-2.5">
      <Half label={t('inspector.retries')}>{(id) => <NumberValue id={id} label={t('inspector.retries')} value={policy.retries} placeholder={shown(defaults.retries ?? 0)} onChange={(value) => onChange({ retries: value as number | undefined })} />}</Half>
      {pause('initial', t('inspector.firstPause'), '1s')}
      {time('start_to_close', t('inspector.attempt'))}
      {time('heartbeat', t('inspector.heartbeat'))}
      {all ? (
        <>
          {pause('factor', t('inspector.factor'), '2')}
          {pause('max', t('inspector.longestPause'), '5m')}
          {time('schedule_to_start', t('inspector.toStart'))}
          {time('schedule_to_close', t('inspector.toClose'))}
          <Half label={t('inspector.timeoutRetries')}>
            {(id) => (
              <TextValue
                id={id}
                label={t('inspector.timeoutRetries')}
                value={policy.timeout_retries?.join(', ') ?? ''}
                placeholder={(defaults.timeout_retries ?? [1, 1, 1]).join(', ')}
                onChange={(text) => {
                  const numbers = text.split(/[\s,]+/).filter(Boolean).map(Number)
                  if (numbers.every(Number.isFinite)) onChange({ timeout_retries: text.trim() ? numbers : undefined })
                }}
              />
            )}
          </Half>
          <DurationField label={t('inspector.warnAfter')} value={policy.warn_after} onChange={(value) => onChange({ warn_after: value })} />
        </>
      ) : null}
    </div>
  )
}

export function QueueFields({ policy, defaults = {}, onChange }: { policy: Policy; defaults?: Policy; onChange: SetPolicy }) {
  return (
    <div className="grid grid-cols-2 gap-x-2 gap-y-2.5">
      <Half label={t('inspector.taskList')}>{(id) => <TextValue id={id} label={t('inspector.taskList')} value={policy.task_list ?? ''} placeholder={defaults.task_list ?? 'default'} onChange={(text) => onChange({ task_list: text.trim() || undefined })} />}</Half>
      <Half label={t('inspector.priority')}>{(id) => <NumberValue id={id} label={t('inspector.priority')} value={policy.priority} placeholder={shown(defaults.priority ?? 0)} onChange={(value) => onChange({ priority: value as number | undefined })} />}</Half>
      <Half label={t('inspector.parallel')}>{(id) => <NumberValue id={id} label={t('inspector.parallel')} value={policy.parallel} onChange={(value) => onChange({ parallel: value as number | undefined })} />}</Half>
    </div>
  )
}
