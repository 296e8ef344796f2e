/** Before steps are removed that live runs are in: it is asked, and said what becomes of those runs. */
import { Link } from '@tanstack/react-router'
import { create } from 'zustand'
import { get, query } from '@/api/client'
import type { Page, RunLine } from '@/api/types'
import { titleOf } from '@/diagram/definition'
import { t } from '@/messages'
import { Button, Dialog } from '@/ui'
import { useEditor } from './store'

interface Asked {
  workflow: string
  version: number
  /** The steps that runs are in; none where so many are removed that only the runs as a whole were asked for. */
  steps: string[]
  runs: number
  more: boolean
  go: () => void
}

const useAsked = create<{ asked: Asked | null }>(() => ({ asked: null }))

const LIVE = ['running', 'waiting', 'paused', 'stalled']
/** More steps than these are not asked for one by one. */
const EACH = 8
const PATIENCE = 1_500

/** Removes them; where runs of the published version are in one of them, once somebody has said so. */
export async function removeWhereNobodyIs(steps: string[], go: () => void): Promise<void> {
  const { name: workflow, published: version } = useEditor.getState()
  if (version === null || steps.length === 0) return go()
  const parts = steps.length > EACH ? [undefined] : steps
  const patience = new AbortController() // its own: a time-out of the signal would be taken for a server that is away
  const timer = setTimeout(() => patience.abort(), PATIENCE)
  const asked = parts.map((step) => get<Page<RunLine>>(`/api/runs${query({ workflow, version, step, status: LIVE, limit: 200 })}`, patience.signal))
  const found = await Promise.all(asked).catch(() => []) // who cannot be asked holds nobody up
  clearTimeout(timer)
  if (useEditor.getState().name !== workflow) return
  const runs = new Set(found.flatMap((page) => page.items.map((each) => each.id))).size
  if (runs === 0) return go()
  useAsked.setState({ asked: { workflow, version, steps: parts.flatMap((step, at) => (step && found[at]?.items.length ? [step] : [])), runs, more: found.some((page) => page.next !== null), go } })
}

/** The question. */
export function Removing() {
  const asked = useAsked((state) => state.asked)
  const steps = useEditor((state) => state.definition.steps)
  if (!asked) return null
  const { workflow, version, runs, more, go } = asked
  const close = () => useAsked.setState({ asked: null })
  const [step] = asked.steps
  const n = more ? t('removing.more', { n: runs }) : t('removing.runs', { n: runs })
  return (
    <Dialog
      open
      onClose={close}
      title={asked.steps.length === 1 && step !== undefined ? t('removing.title', { runs: n, step: titleOf(step, steps[step]) }) : t('removing.titleMany', { runs: n })}
      detail={t('removing.detail', { version, n: runs })}
      actions={
        <>
          <Link className="btn" to="/app/runs" search={{ workflow, version: String(version), status: LIVE.join(','), ...(asked.steps.length === 1 ? { step } : {}) }} onClick={close}>
            {t('removing.look')}
          </Link>
          <Button onClick={close}>{t('act.cancel')}</Button>
          <Button
            kind="danger"
            onClick={() => {
              close()
              go()
            }}
          >
            {t('removing.go')}
          </Button>
        </>
      }
    />
  )
}
