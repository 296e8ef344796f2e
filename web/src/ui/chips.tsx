import type { ReactNode } from 'react'
import { type MessageKey, isMessage, t } from '@/messages'
import { Icon, type IconName } from './icons'

export type Tint = 'acc' | 'warn' | 'ok' | 'bad' | 'idle'
export interface Look {
  icon: IconName
  tint: Tint
  text: MessageKey
}

export const RUN_LOOKS: Record<string, Look> = {
  running: { icon: 'running', tint: 'acc', text: 'run.running' },
  waiting: { icon: 'waiting', tint: 'warn', text: 'run.waiting' },
  paused: { icon: 'paused', tint: 'idle', text: 'run.paused' },
  stalled: { icon: 'warning', tint: 'warn', text: 'run.stalled' },
  succeeded: { icon: 'done', tint: 'ok', text: 'run.succeeded' },
  failed: { icon: 'failed', tint: 'bad', text: 'run.failed' },
  canceled: { icon: 'canceled', tint: 'idle', text: 'run.canceled' },
  timed_out: { icon: 'clock', tint: 'bad', text: 'run.timed_out' },
}

export const STEP_LOOKS: Record<string, Look> = {
  blocked: { icon: 'blocked', tint: 'idle', text: 'step.blocked' },
  ready: { icon: 'ready', tint: 'acc', text: 'step.ready' },
  running: { icon: 'running', tint: 'acc', text: 'step.running' },
  complete: { icon: 'done', tint: 'ok', text: 'step.complete' },
  failed: { icon: 'failed', tint: 'bad', text: 'step.failed' },
  canceled: { icon: 'canceled', tint: 'idle', text: 'step.canceled' },
  disabled: { icon: 'disabled', tint: 'idle', text: 'step.disabled' },
}

export const RELEASE_LOOKS: Record<string, Look> = {
  waiting: { icon: 'waiting', tint: 'warn', text: 'release.waiting' },
  initializing: { icon: 'running', tint: 'acc', text: 'release.initializing' },
  initialized: { icon: 'ready', tint: 'acc', text: 'release.initialized' },
  running: { icon: 'running', tint: 'acc', text: 'release.running' },
  staging: { icon: 'running', tint: 'acc', text: 'release.staging' },
  staged: { icon: 'ready', tint: 'acc', text: 'release.staged' },
  publishing: { icon: 'running', tint: 'acc', text: 'release.publishing' },
  published: { icon: 'done', tint: 'ok', text: 'release.published' },
  partly_published: { icon: 'warning', tint: 'warn', text: 'release.partly_published' },
  canceling: { icon: 'canceled', tint: 'idle', text: 'release.canceling' },
  canceled: { icon: 'canceled', tint: 'idle', text: 'release.canceled' },
  failed: { icon: 'failed', tint: 'bad', text: 'release.failed' },
  rejected: { icon: 'failed', tint: 'bad', text: 'release.rejected' },
}

const LOOKS = { run: RUN_LOOKS, step: STEP_LOOKS, release: RELEASE_LOOKS }

/** Icon and word, always both. `text` says more than the word where there is more to say. */
export function StatusChip({ of = 'run', status, text, bare = false }: { of?: keyof typeof LOOKS; status: string; text?: ReactNode; bare?: boolean }) {
  const look = LOOKS[of][status] ?? { icon: 'note' as const, tint: 'idle' as const, text: null }
  const word = look.text !== null && isMessage(look.text) ? t(look.text) : status
  return (
    <span className={`st ${look.tint === 'idle' ? '' : look.tint} ${bare ? 'bare' : ''}`}>
      <Icon name={look.icon} />
      {text ?? word}
    </span>
  )
}

export function Chip({ children, title }: { children: ReactNode; title?: string }) {
  return (
    <span className="tag" title={title}>
      {children}
    </span>
  )
}

/** An event: its dot is filled where it is here. */
export function EventPill({ name, here = false, outside = false, bad = false }: { name: string; here?: boolean; outside?: boolean; bad?: boolean }) {
  return (
    <span className={`ev ${here ? 'on' : ''} ${outside ? 'x' : ''} ${bad ? 'badl' : ''}`}>
      {outside ? <Icon name="outside" /> : null}
      <span className={`tok ${here || bad ? '' : 'o'}`} />
      <bdi>{name}</bdi>
    </span>
  )
}

export type Verdict = { kind: 'proved'; warnings: number } | { kind: 'refuted'; errors: number } | { kind: 'undecided'; seconds: number } | { kind: 'checking' } | { kind: 'unchecked' } | { kind: 'unreadable' }

const SEALS: Record<Verdict['kind'], { tint: string; icon: IconName }> = {
  proved: { tint: 'ok', icon: 'seal' },
  refuted: { tint: 'bad', icon: 'sealbad' },
  undecided: { tint: 'idle', icon: 'note' },
  checking: { tint: 'idle dash', icon: 'blocked' },
  unchecked: { tint: 'idle dash', icon: 'blocked' },
  unreadable: { tint: 'idle', icon: 'note' },
}

export function verdictText(verdict: Verdict): string {
  switch (verdict.kind) {
    case 'proved':
      return verdict.warnings > 0 ? t('seal.warnings', { n: verdict.warnings }) : t('seal.proved')
    case 'refuted':
      return t('seal.refuted', { n: verdict.errors })
    case 'undecided':
      return t('seal.undecided', { seconds: verdict.seconds })
    case 'checking':
      return t('seal.checking')
    case 'unchecked':
      return t('seal.unchecked')
    case 'unreadable':
      return t('seal.unreadable')
  }
}

/** What the checks say, as a pill; a button where it opens something. */
export function Seal({ verdict, onClick }: { verdict: Verdict; onClick?: () => void }) {
  const warned = verdict.kind === 'proved' && verdict.warnings > 0
  const { tint, icon } = warned ? { tint: 'warn', icon: 'sealbad' as const } : SEALS[verdict.kind]
  const text = verdictText(verdict)
  const inside = (
    <>
      <Icon name={icon} />
      {text}
    </>
  )
  if (!onClick) return <span className={`seal ${tint}`}>{inside}</span>
  return (
    <button type="button" className={`seal ${tint}`} onClick={onClick} aria-label={t('seal.open', { verdict: text })}>
      {inside}
    </button>
  )
}
