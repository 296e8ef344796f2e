/** Many runs at once: what would happen is said before the button is pressed. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { at, post } from '@/api/client'
import type { BulkDone, RunLine } from '@/api/types'
import { t } from '@/messages'
import { Button, Checkbox, Dialog, IconButton } from '@/ui'
import { toast } from '@/ui/toasts'
import { undoable } from '@/run/undo'
import { type Filter, LIVE, bulkFilter } from './filters'

export type Action = 'retry' | 'cancel' | 'pause' | 'resume' | 'rerun'

/** Which runs an action can do something to. */
const FITS: Record<Action, ReadonlySet<string>> = {
  retry: new Set(['failed']),
  cancel: LIVE,
  pause: new Set(['running', 'waiting', 'stalled']),
  resume: new Set(['paused']),
  rerun: new Set(['succeeded', 'failed', 'canceled', 'timed_out', 'running', 'waiting', 'paused', 'stalled']),
}

/** How many of some runs an action is for. */
export const fitting = (action: Action, statuses: Record<string, number>): number => Object.entries(statuses).reduce((sum, [status, count]) => sum + (FITS[action].has(status) ? count : 0), 0)

/** What the buttons offer for what is chosen: those that would do something. */
const MAIN: Action[] = ['retry', 'resume', 'pause', 'cancel', 'rerun']

const counted = (lines: RunLine[]): Record<string, number> => {
  const found: Record<string, number> = {}
  for (const line of lines) found[line.status] = (found[line.status] ?? 0) + 1
  return found
}

export function BulkBar({ chosen, all, filter, onAll, onClear }: { chosen: RunLine[]; all: boolean; filter: Filter; onAll: (all: boolean) => void; onClear: () => void }) {
  const [sure, setSure] = useState<Action | null>(null)
  const [first, setFirst] = useState<Action | null>(null)
  const everything = useQuery({
    queryKey: ['bulk', JSON.stringify(filter)],
    queryFn: () => post<BulkDone>('/api/runs/bulk', { filter: bulkFilter(filter, Date.now()), action: 'rerun', dry_run: true }),
    staleTime: 10_000,
  }).data
  const statuses = all ? (everything?.statuses ?? {}) : counted(chosen)
  const total = all ? (everything?.count ?? 0) : chosen.length
  const offered = MAIN.filter((action) => fitting(action, statuses) > 0)
  const main = first && offered.includes(first) ? first : offered[0]
  const go = (action: Action) => {
    setSure(null)
    const wanted = all ? null : chosen
    const found = bulkFilter(filter, Date.now())
    undoable({
      title: t(`ru.do.${action}`, { n: fitting(action, statuses) }),
      work: async () => told(action, wanted ? await each(action, wanted) : await post<BulkDone>('/api/runs/bulk', { filter: found, action })),
      keys: [['runs'], ['bulk'], ['incidents']],
    })
    onClear()
  }
  return (
    <section className="bulk" aria-label={t('ru.bulk')}>
      <Checkbox checked onChange={onClear} label={t('ru.clear')} />
      <b>{t('ru.selected', { n: total })}</b>
      {!all && everything && everything.count > chosen.length ? (
        <span>
          {t('ru.orAll')}{' '}
          <button type="button" className="acc cursor-pointer underline" onClick={() => onAll(true)}>
            {t('ru.allOfFilter', { n: everything.count })}
          </button>
        </span>
      ) : null}
      <span className="grow" />
      {main ? <span role="status">{t('ru.preview', { action: t(`ru.a.${main}`), n: fitting(main, statuses), skipped: total - fitting(main, statuses) })}</span> : <span role="status">{t('ru.previewNone')}</span>}
      {offered.slice(0, 3).map((action) => (
        <Button key={action} size="s" kind={action === main ? 'primary' : 'plain'} icon={action === 'retry' ? 'again' : undefined} onMouseEnter={() => setFirst(action)} onFocus={() => setFirst(action)} onClick={() => (all || action === 'cancel' ? setSure(action) : go(action))}>
          {t(`ru.do.${action}`, { n: fitting(action, statuses) })}
        </Button>
      ))}
      <IconButton icon="cross" size="s" label={t('ru.clear')} onClick={onClear} />
      {sure ? (
        <Dialog
          open
          onClose={() => setSure(null)}
          title={t('ru.sure', { action: t(`ru.a.${sure}`), n: fitting(sure, statuses) })}
          detail={t('ru.preview', { action: t(`ru.a.${sure}`), n: fitting(sure, statuses), skipped: total - fitting(sure, statuses) })}
          actions={
            <>
              <Button onClick={() => setSure(null)}>{t('act.leave')}</Button>
              <Button kind={sure === 'cancel' ? 'danger' : 'primary'} onClick={() => go(sure)}>
                {t(`ru.do.${sure}`, { n: fitting(sure, statuses) })}
              </Button>
            </>
          }
        />
      ) : null}
    </section>
  )
}

function told(action: Action, done: Pick<BulkDone, 'done' | 'refused' | 'failed'>): void {
  const bad = done.refused + done.failed
  toast({ kind: done.failed > 0 ? 'bad' : 'ok', title: t('ru.bulkDone', { action: t(`ru.a.${action}`), n: done.done }), ...(bad > 0 ? { detail: t('ru.bulkLeft', { n: bad }) } : {}) })
}

/** The chosen ones, each by its own call; those that it is not for are left out. */
async function each(action: Action, chosen: RunLine[]): Promise<{ done: number; refused: number; failed: number }> {
  const fit = chosen.filter((line) => FITS[action].has(line.status))
  const ends = await Promise.allSettled(fit.map((line) => post(`${at`/api/runs/${line.id}`}/${action}`)))
  const done = ends.filter((end) => end.status === 'fulfilled').length
  return { done, refused: chosen.length - fit.length, failed: fit.length - done }
}
