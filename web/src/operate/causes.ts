/** Incidents by their cause: what failed for one reason is one thing to look at. */
import type { Incident } from '@/api/operations'
import { t } from '@/messages'
import { errorReason } from '@/run/reasons'
import { kindText } from './kinds'

export interface Cause {
  key: string
  kind: string
  workflow: string | null
  step: string | null
  message: string
  /** The same in the words of the reader. */
  said: string
  since: string
  items: Incident[]
}

/** Numbers, ids and paths differ from run to run: two messages that differ by them alone have one cause. */
export const stripped = (message: string): string =>
  message
    .replace(/[0-9a-f]{8,}/gi, '#')
    .replace(/\d+/g, '#')
    .slice(0, 200)

const KINDS: Record<string, (each: Incident) => string | null> = {
  failed: (each) => (each.error ? errorReason(each.error) : t('op.noReason')),
  poison: (each) => (each.error ? errorReason(each.error) : t('op.noReason')),
  stalled: (each) => (each.starving?.[0] ? t('op.lacks', { events: each.starving[0].missing.join(', ') }) : t('op.nothingLeft')),
  set_aside: (each) => (each.event ? t('op.asideFor', { event: each.event, why: each.reason === 'its key is null' ? t('op.keyNull') : (each.reason ?? '') }) : null),
  unreadable: (each) => each.reason ?? null,
  source: (each) => (each.reason ? t(each.event ? 'op.sourceEvent' : 'op.sourceDetail', { workflow: each.workflow ?? '', event: each.event ?? '', kind: kindText(each.source ?? ''), why: each.reason }) : null),
}

/** What happened, in the words of the reader; what the page does not know yet is said as the server says it. */
export const incidentText = (each: Incident): string => KINDS[each.kind]?.(each) ?? each.text

function partsOf(each: Incident): { step: string | null; message: string } {
  if (each.kind === 'stalled') {
    const starving = each.starving?.[0]
    return { step: starving?.step ?? null, message: starving?.missing.join(', ') ?? each.text }
  }
  return { step: each.steps?.[0] ?? each.step ?? null, message: each.error?.message ?? each.event ?? each.text }
}

/** The largest first, then the oldest. */
export function causesOf(incidents: Incident[]): Cause[] {
  const found = new Map<string, Cause>()
  for (const each of incidents) {
    const { step, message } = partsOf(each)
    const key = JSON.stringify([each.kind, each.workflow ?? null, step, stripped(message)])
    const cause = found.get(key)
    if (!cause) found.set(key, { key, kind: each.kind, workflow: each.workflow ?? null, step, message, said: incidentText(each), since: each.at, items: [each] })
    else {
      cause.items.push(each)
      if (each.at < cause.since) cause.since = each.at
    }
  }
  return [...found.values()].sort((one, two) => two.items.length - one.items.length || one.since.localeCompare(two.since))
}
