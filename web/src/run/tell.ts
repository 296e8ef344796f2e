/** One line of a history in plain words. */
import type { Entry } from '@/api/types'
import { isMessage, t } from '@/messages'
import type { IconName } from '@/ui/icons'
import { short } from '@/ui/json'
import { errorReason } from './reasons'

export interface Telling {
  icon: IconName
  tint: 'ok' | 'bad' | 'warn' | 'acc' | 'idle'
  text: string
  more: string
}

interface Said {
  error?: { kind?: string; message?: string; detail?: unknown }
  retry_at?: string | null
  reason?: string | null
  status?: string
  by?: string
  retry?: number[]
  skip?: string
  put?: number
  take?: number
  fail?: boolean
}

const LATE = new Set(['timeout', 'lost'])

const why = ({ error }: Said): string => (error?.message ? errorReason({ ...error, message: error.message }) : '')

type Teller = (entry: Entry, step: string, said: Said) => Telling

const TELLERS: Record<Entry['kind'], Teller> = {
  event: (entry, step) => {
    const event = entry.event ?? ''
    if (entry.step !== null) return { icon: 'token', tint: 'acc', text: t('rp.h.event', { event }), more: t('rp.h.eventBy', { step }) }
    return { icon: 'token', tint: 'acc', text: event === 'START' ? t('rp.h.start') : t('rp.h.outside', { event }), more: entry.data == null ? '' : short(entry.data) }
  },
  fired: (_entry, step) => ({ icon: 'running', tint: 'acc', text: t('rp.h.fired', { step }), more: '' }),
  attempt: (entry, step, said) => {
    const late = LATE.has(said.error?.kind ?? '')
    const values = { step, n: entry.attempt ?? 1 }
    return { icon: late ? 'clock' : 'failed', tint: 'bad', text: late ? t('rp.h.timedOut', values) : t('rp.h.attemptFailed', values), more: why(said) }
  },
  ended: (entry, step, said) => {
    if (entry.port === 'failed') return { icon: 'failed', tint: 'bad', text: t('rp.h.failed', { step }), more: why(said) }
    const n = entry.attempt ?? 1
    return { icon: 'done', tint: 'ok', text: entry.port === 'done' ? t('rp.h.done', { step }) : t('rp.h.port', { step, port: entry.port ?? '' }), more: n > 1 ? t('rp.h.attempts', { n }) : '' }
  },
  withdrawn: (entry, step) => ({ icon: 'canceled', tint: 'idle', text: step ? t('rp.h.withdrawn', { step }) : t('rp.h.withdrawnEvent', { event: entry.event ?? '' }), more: '' }),
  set: (entry, step) => ({ icon: 'edit', tint: 'idle', text: step ? t('rp.h.set', { step }) : t('rp.h.setOutside'), more: short(entry.data) }),
  correlated: (entry) => ({ icon: 'link', tint: 'idle', text: t('rp.h.correlated'), more: short(entry.data) }),
  conflict: (entry) => ({ icon: 'warning', tint: 'warn', text: t('rp.h.conflict'), more: short(entry.data) }),
  paused: () => ({ icon: 'paused', tint: 'idle', text: t('rp.h.paused'), more: '' }),
  resumed: () => ({ icon: 'play', tint: 'acc', text: t('rp.h.resumed'), more: '' }),
  repaired: (entry, step, said) => repairOf(entry, step, said),
  run_ended: (entry, _step, said) => ({ icon: 'stop', tint: 'idle', text: t('rp.h.ended', { status: said.status ?? entry.event ?? entry.port ?? '' }), more: why(said) }),
}

/** What a person did to a run. */
function repairOf(entry: Entry, step: string, said: Said): Telling {
  const done = (text: string, icon: Telling['icon'] = 'link'): Telling => ({ icon, tint: 'warn', text, more: said.reason ?? '' })
  if (said.retry) return done(step ? t('rp.h.retried', { step }) : t('rp.h.retriedRun'), 'again')
  if (said.skip !== undefined) return done(t('rp.h.skipped', { step, port: said.skip }))
  if (said.fail) return done(t('rp.h.letFail'), 'failed')
  const event = entry.event ?? ''
  if (said.put !== undefined) return done(t('rp.h.put', { event, step }))
  if (said.take !== undefined) return done(t('rp.h.taken', { event, step }))
  return { ...done(t('rp.h.repaired')), more: said.reason ?? short(entry.data) }
}

/** `title`: what people call a step. */
export function tell(entry: Entry, title: (step: string) => string = String): Telling {
  const said = (entry.data !== null && typeof entry.data === 'object' ? entry.data : {}) as Said
  return TELLERS[entry.kind](entry, entry.step === null ? '' : title(entry.step), said)
}

/** Why a step is where it is, in the one word that its state has for it. */
export function standing(reason: string): string {
  const key = `rp.reason.${reason.replace(' ', '_')}`
  return isMessage(key) ? t(key) : reason
}
