/** Why a run or a step does not go on, in the words of the reader: made of what the server says, with times of the reader's clock. */
import type { WhyRun, WhyStep } from '@/api/operations'
import { language, t } from '@/messages'
import { spanText, timeText } from '@/ui/times'

const listed = (names: string[]): string => new Intl.ListFormat(language(), { type: 'disjunction' }).format(names.map((name) => t('why.named', { name })))

const pausedBy = (by: string[] | undefined): string => t(by?.[0] === 'installation' ? 'why.pausedAll' : by?.[0] === 'workflow' ? 'why.pausedWorkflow' : 'why.pausedRun')

export interface Failure {
  kind?: string
  message: string
  detail?: unknown
}

const ours = (text: string, pattern: RegExp): string[] | null => pattern.exec(text)?.slice(1) ?? null

/** Why something failed: what the engine itself says, in the words of the reader; what a task says stays as it is. */
export function errorReason({ kind, message, detail }: Failure): string {
  const told = (detail ?? {}) as { limit?: string; run?: string; status?: string }
  if (kind === 'lost' && message === 'the worker vanished') return t('why.lost')
  const fired = ours(message, /^step '(.*)' fired FAIL$/)
  if (fired) return t('why.firedFail', { step: fired[0] ?? '' })
  if (kind === 'child' && told.run && told.status) return [t('why.childEnded', { run: told.run, status: told.status }), ours(message, /ended as \w+: (.*)$/s)?.[0]].filter(Boolean).join(': ')
  if (kind !== 'timeout') return message
  const due = ours(message, /^nobody decided until (.*)$/)
  if (due) return t('why.undecided', { time: timeText(due[0] ?? '') })
  if (ours(message, /^the attempt outlived its .* time-out$/)) return t('why.attemptLate', { limit: told.limit ?? '' })
  const run = ours(message, /^the run outlived its timeout(?: of (.*))?$/)
  return run ? t('why.runLate', { limit: run[0] ? ` (${spanText(run[0])})` : '' }) : message
}

/** The run as a whole. */
export function runReason(why: WhyRun, run: { ending: string | null; error: Failure | null }): string {
  switch (why.status) {
    case 'succeeded':
      return t('why.succeeded')
    case 'failed':
    case 'timed_out':
    case 'canceled':
      return run.error ? t('why.endedFor', { status: why.status, message: sentence(errorReason(run.error)) }) : t('why.ended', { status: why.status })
  }
  if (run.ending) return t('why.ending', { status: run.ending })
  if (why.status === 'paused') return t('why.paused')
  if (why.waiting_for.length > 0) return t('why.waitsFor', { events: listed(why.waiting_for) })
  if (why.status === 'waiting') return t('why.waitsOutside')
  if (why.status === 'stalled') return t('why.stalled')
  return t(why.steps.length > 0 ? 'why.moves' : 'why.aboutTo')
}

const sentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`)

const REASONS: Record<string, (why: WhyStep) => string | null> = {
  running: (why) => (why.worker ? t('rp.runsOn', { worker: why.worker, n: why.attempt ?? 1 }) : t('why.dispatched')),
  timer: (why) => (why.until ? t('why.sleeps', { time: timeText(why.until) }) : t('why.sleepsOn')),
  backoff: (why) => (why.until ? t('why.again', { n: why.attempt ?? 1, time: timeText(why.until) }) : t('why.againSoon', { n: why.attempt ?? 1 })),
  approval: (why) => `${t('why.person', { role: why.role ?? '' })}${why.due ? ` ${t('why.due', { time: timeText(why.due) })}` : ''}`,
  callback: (why) => t('why.handed', { n: why.attempt ?? 1 }),
  child: (why) => t('why.child', { run: why.run ?? '' }),
  parallel: (why) => t('why.parallel', { n: why.parallel ?? 1 }),
  paused: (why) => t('why.ready', { why: pausedBy(why.by) }),
  serialized: (why) => t('why.serialized', { key: why.key ?? '', run: (why.holders ?? []).join(', ') || '?', n: why.ahead ?? 0 }),
  queued: (why) => (why.since ? t('why.queued', { list: why.task_list ?? '', time: timeText(why.since) }) : null),
  'no worker': (why) => t('why.noWorker', { task: why.task ?? '', list: why.task_list ?? '' }),
  failed: (why) => why.text.replace(/^'.*?' failed: /, ''),
}

/** One step; what the page does not know yet is said as the server says it. */
export const stepReason = (why: WhyStep): string => REASONS[why.reason]?.(why) ?? why.text

export interface WhyList {
  task_list: string
  reason: string
  text: string
  ready: number
  held: number
  running: number
  workers: string[]
}

/** A task list. */
export function listReason(why: WhyList): string {
  const values = { n: why.ready, running: why.running, held: why.held, workers: why.workers.join(', ') }
  switch (why.reason) {
    case 'no worker':
      return t('why.listNoWorker', values)
    case 'busy':
      return t('why.listBusy', values)
    case 'moving':
      return t('why.listMoving', values)
    case 'paused':
      return t('why.listPaused', values)
    case 'idle':
      return t('why.listIdle')
    default:
      return why.text
  }
}
