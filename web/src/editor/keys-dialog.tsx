import { type KeyboardEvent, useState } from 'react'
import { bind, shownOf, takenBy, unbindAll, useBindings } from '@/app/bindings'
import type { Command } from '@/app/commands'
import { chord, lettersOn, setLetters } from '@/app/keys'
import { t } from '@/messages'
import { Button, Dialog, Switch } from '@/ui'

interface Line {
  id: string
  label: string
  keys: string
  fixed?: boolean
}

/** The list of keys: each can be changed, and single letters can be turned off. */
export function KeysDialog({ open, onClose, commands }: { open: boolean; onClose: () => void; commands: Command[] }) {
  const [letters, set] = useState(lettersOn)
  const [changing, setChanging] = useState<string | null>(null)
  const [wrong, setWrong] = useState('')
  const bindings = useBindings((state) => state.bindings)
  const own: Line[] = commands.flatMap((command) => (command.keys ? [{ id: command.id, label: command.label, keys: command.keys.replaceAll(' ', '+') }] : []))
  const more: Line[] = [
    { id: 'bar', label: t('commands.title'), keys: 'Ctrl+K' },
    { id: 'walk', label: t('keys.walk'), keys: '← ↑ → ↓', fixed: true },
    { id: 'move', label: t('keys.move'), keys: 'Alt ← ↑ → ↓', fixed: true },
    { id: 'open', label: t('cmd.open'), keys: 'Enter' },
    { id: 'leave', label: t('cmd.leave'), keys: 'Escape', fixed: true },
    { id: 'fit', label: t('diagram.fit'), keys: '1' },
    { id: 'full', label: t('diagram.zoomTo'), keys: '0' },
    { id: 'in', label: t('diagram.zoomIn'), keys: '+' },
    { id: 'out', label: t('diagram.zoomOut'), keys: '-' },
    { id: 'play', label: t('player.play'), keys: ' ' },
    { id: 'back', label: t('player.back'), keys: ',' },
    { id: 'forward', label: t('player.forward'), keys: '.' },
  ]
  const lines = [...own, ...more]
  const pressed = (event: KeyboardEvent, line: Line) => {
    event.preventDefault()
    event.stopPropagation()
    if (event.key === 'Escape') return setChanging(null)
    if (['Control', 'Shift', 'Alt', 'Meta', 'Tab'].includes(event.key)) return
    const name = chord(event)
    const taken = takenBy(name, lines.map((each) => each.keys), bindings)
    if (taken !== undefined && taken !== line.keys) return setWrong(t('keys.taken', { keys: spelled(name), what: lines.find((each) => each.keys === taken)?.label ?? '' }))
    bind(line.keys, name)
    setWrong('')
    setChanging(null)
  }
  return (
    <Dialog open={open} onClose={onClose} title={t('keys.title')} width={640}>
      <div className="row mb-3">
        <Switch
          checked={letters}
          label={t('keys.letters')}
          onChange={(on) => {
            setLetters(on)
            set(on)
          }}
        />
        <span className="t12 grow">{t('keys.letters')}</span>
        {Object.keys(bindings).length > 0 ? (
          <Button size="s" onClick={unbindAll}>
            {t('keys.reset')}
          </Button>
        ) : null}
      </div>
      {wrong ? (
        <p className="t12 bad mb-2" role="alert">
          {wrong}
        </p>
      ) : null}
      <dl className="grid grid-cols-2 gap-x-6 t12">
        {lines.map((line) => (
          <div key={line.id} className="row min-h-7 border-b border-line">
            <dt className="grow">{line.label}</dt>
            <dd>
              {line.fixed ? (
                <kbd className="kbd">{spelled(line.keys)}</kbd>
              ) : (
                <button
                  type="button"
                  className="kbd cursor-pointer"
                  aria-label={changing === line.id ? t('keys.press', { what: line.label }) : t('keys.change', { what: line.label, keys: spelled(shownOf(line.keys, bindings)) })}
                  onClick={() => setChanging(line.id)}
                  onBlur={() => setChanging(null)}
                  onKeyDown={(event) => changing === line.id && pressed(event, line)}
                >
                  {changing === line.id ? '…' : spelled(shownOf(line.keys, bindings))}
                </button>
              )}
            </dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}

const spelled = (keys: string): string => (keys === ' ' ? 'Space' : keys === '+' ? '+' : keys.replaceAll('+', ' ').replace('Escape', 'Esc'))
