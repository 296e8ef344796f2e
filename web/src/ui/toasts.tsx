import { useEffect } from 'react'
import { create } from 'zustand'
import { t } from '@/messages'
import { Button, IconButton } from './buttons'
import { freshId } from './fresh'
import { Icon, type IconName } from './icons'

export interface Toast {
  id: string
  kind: 'ok' | 'bad' | 'warn' | 'acc'
  title: string
  detail?: string
  action?: ToastAction
  /** Beside the first. */
  other?: ToastAction
  lasts?: number
  /** A line that grows shorter until it goes. */
  counts?: boolean
}

interface ToastAction {
  label: string
  run: () => void
}

const ICONS: Record<Toast['kind'], IconName> = { ok: 'done', bad: 'failed', warn: 'clock', acc: 'person' }

/** So many at once, unless more can still be undone. */
const MOST = 4

const useToasts = create<{ list: Toast[] }>(() => ({ list: [] }))

/** Say something that does not stop anybody; the same id replaces what it said before. */
export function toast(said: Omit<Toast, 'id'> & { id?: string }): string {
  const id = said.id ?? freshId()
  useToasts.setState(({ list }) => ({ list: fewer([...list.filter((each) => each.id !== id), { ...said, id }]) }))
  return id
}

/** The newest few; what can still be undone stays until it cannot. */
export function fewer(list: Toast[]): Toast[] {
  const spare = list.slice(0, -1).filter((each) => !each.counts)
  const gone = new Set(spare.slice(0, Math.max(0, list.length - MOST)))
  return list.filter((each) => !gone.has(each))
}

export function dismiss(id: string): void {
  useToasts.setState(({ list }) => ({ list: list.filter((each) => each.id !== id) }))
}

export function Toasts() {
  const list = useToasts((state) => state.list)
  return (
    <ol className="toasts" aria-live="polite" aria-label={t('live.region')}>
      {list.map((each) => (
        <Line key={each.id} said={each} />
      ))}
    </ol>
  )
}

function Line({ said }: { said: Toast }) {
  const { id, lasts } = said
  useEffect(() => {
    if (lasts === 0) return
    const timer = setTimeout(() => dismiss(id), lasts ?? 6_000)
    return () => clearTimeout(timer)
  }, [id, lasts])
  return (
    <li className="toast" role={said.kind === 'bad' ? 'alert' : undefined}>
      <span className={said.kind}>
        <Icon name={ICONS[said.kind]} />
      </span>
      <div>
        <b>{said.title}</b>
        {said.detail ? <div className="mut">{said.detail}</div> : null}
      </div>
      <div className="row">
        {[said.action, said.other].map((action) =>
          action ? (
            <Button
              key={action.label}
              size="s"
              onClick={() => {
                dismiss(said.id)
                action.run()
              }}
            >
              {action.label}
            </Button>
          ) : null,
        )}
        {said.counts ? null : <IconButton icon="cross" size="s" label={t('act.close')} onClick={() => dismiss(said.id)} />}
      </div>
      {said.counts ? <span className="counts" aria-hidden="true" /> : null}
    </li>
  )
}
