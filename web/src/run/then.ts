/** A step as it was at another moment of its run. */
import type { MarkingAt } from '@/api/operations'
import type { Entry, StepState } from '@/api/types'

/** The entries up to one, or all. */
export const entriesUntil = (entries: Entry[], seq: number | null): Entry[] => (seq === null ? entries : entries.filter((entry) => entry.seq <= seq))

/** What the history says of a step up to an entry; `then` is the marking there, once the server has told it. */
export function stepAt(now: StepState, step: string, entries: Entry[], then: MarkingAt | undefined, seq: number | null): StepState {
  if (seq === null) return now
  const own = entriesUntil(entries, seq).filter((entry) => entry.step === step)
  const begun = own.findLast((entry) => entry.kind === 'fired')
  const last = own.findLast((entry) => entry.kind === 'ended' || entry.kind === 'withdrawn')
  const over = last && (!begun || last.seq > begun.seq) ? last : undefined
  const failed = over?.port === 'failed'
  const told = then?.seq === seq ? then.steps[step] : undefined
  const status = over ? (failed ? 'failed' : over.kind === 'withdrawn' ? 'canceled' : 'complete') : begun ? 'running' : 'blocked'
  return {
    ...now,
    status: told?.status ?? status,
    firings: told?.firings ?? own.filter((entry) => entry.kind === 'fired').length,
    attempts: over?.attempt ?? 0,
    reason: null,
    elements: null,
    error: failed ? ((over?.data as { error?: StepState['error'] } | null)?.error ?? null) : null,
    output: over && !failed ? over.data : null,
  }
}
