import { useMemo, useRef, useState } from 'react'
import { useSpokenTasks } from '@/api/queries'
import type { TaskOffer } from '@/api/types'
import { iconOf } from '@/diagram/icons'
import { type MessageKey, t } from '@/messages'
import { Icon, type IconName } from '@/ui/icons'
import { SearchInput } from '@/ui/forms'
import { addNote, addOutside, addTask } from './acts'
import { offerTitle } from './offers'

interface Line {
  id: string
  label: string
  icon: IconName
  hint: string
  run: () => void
}

const GROUPS: [MessageKey, string[]][] = [
  ['palette.people', ['approval', 'wait']],
  ['palette.decide', ['decide', 'switch']],
  ['palette.data', ['tag', 'set', 'update']],
  ['palette.connect', ['http', 'workflow', 'service', 'mail', 'emit', 'shell']],
  ['palette.ends', ['terminate', 'fail']],
]

/** What workers offer and what is built in; a click or a drag puts it on the canvas. */
export function Palette() {
  const tasks = useSpokenTasks()
  const [text, setText] = useState('')
  const root = useRef<HTMLElement>(null)
  const groups = useMemo(() => groupsOf(tasks.data?.items ?? []), [tasks.data])
  const wanted = text.toLowerCase().trim()
  const shown = groups.map((group) => ({ ...group, lines: group.lines.filter((line) => `${line.label} ${line.id}`.toLowerCase().includes(wanted)) })).filter((group) => group.lines.length > 0)
  const walk = (event: React.KeyboardEvent) => {
    const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (!by) return
    event.preventDefault()
    const items = [...(root.current?.querySelectorAll<HTMLElement>('input, button.pi') ?? [])]
    items[items.indexOf(document.activeElement as HTMLElement) + by]?.focus()
  }
  return (
    <nav className="pal" aria-label={t('palette.label')} ref={root} onKeyDown={walk}>
      <div className="px-2.5">
        <SearchInput id="find-box" label={t('palette.find')} keys="/" value={text} onChange={(event) => setText(event.target.value)} onKeyDown={(event) => event.key === 'Enter' && shown[0]?.lines[0]?.run()} />
      </div>
      <div className="min-h-0 flex-1 overflow-auto">
        {shown.map((group) => (
          <div key={group.title}>
            <div className="cap">{group.title}</div>
            {group.lines.map((line) => (
              <button
                key={line.id}
                type="button"
                className="pi w-full"
                title={line.hint}
                draggable
                tabIndex={-1}
                onDragStart={(event) => {
                  event.dataTransfer.setData('application/x-penstock-box', line.id)
                  event.dataTransfer.effectAllowed = 'copy'
                }}
                onClick={line.run}
              >
                <Icon name={line.icon} />
                <bdi className="ell">{line.label}</bdi>
              </button>
            ))}
          </div>
        ))}
        {shown.length === 0 && tasks.data ? <p className="mut t12 p-3">{t('palette.none')}</p> : null}
        {tasks.error && !tasks.data ? <p className="mut t12 p-3">{t('palette.away')}</p> : null}
      </div>
    </nav>
  )
}

function groupsOf(offers: TaskOffer[]): { title: string; lines: Line[] }[] {
  const line = (offer: TaskOffer): Line => ({ id: offer.name, label: offerTitle(offer), icon: iconOf(offer.name), hint: `${offer.doc}\n${offer.name}`.trim(), run: () => addTask(offer.name, {}) })
  const builtIn = new Set(GROUPS.flatMap(([, names]) => names))
  const own = Map.groupBy(offers.filter((offer) => !builtIn.has(offer.name)), (offer) => offer.task_list ?? '')
  return [
    ...[...own].map(([list, found]) => ({ title: list ? t('palette.workers', { list }) : t('palette.default'), lines: found.map(line) })),
    ...GROUPS.map(([title, names]) => ({ title: t(title), lines: names.flatMap((name) => offers.filter((offer) => offer.name === name).map(line)) })),
    {
      title: t('palette.canvas'),
      lines: [
        { id: '@outside', label: t('palette.outside'), icon: 'outside' as const, hint: t('finder.eventDetail'), run: addOutside },
        { id: '@note', label: t('palette.note'), icon: 'sticky' as const, hint: t('finder.noteDetail'), run: addNote },
      ],
    },
  ]
}
