import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react'
import { create } from 'zustand'
import { t } from '@/messages'
import { Icon, type IconName } from '@/ui/icons'
import { focusDrawing } from './view'

export interface Choice {
  id: string
  label: string
  detail?: string
  icon?: IconName
  group?: string
  run: () => void
}

interface Asked {
  title: string
  choices: Choice[]
  at?: { x: number; y: number }
  note?: ReactNode
  /** A text may be given in place of a choice. */
  free?: { label: string; run: (text: string) => void; check?: (text: string) => string | null; initial?: string; long?: boolean }
}

const useAsked = create<{ asked: Asked | null }>(() => ({ asked: null }))

/** Asks for one of some: filter by typing, arrows and Enter, or a click. Esc leaves everything as it is; a long text is set however it is left, and undo takes it back. */
export const choose = (asked: Asked): void => useAsked.setState({ asked })
export const chooserOpen = (): boolean => useAsked.getState().asked !== null

export function Chooser() {
  const asked = useAsked((state) => state.asked)
  if (!asked) return null
  return <Open key={asked.title} asked={asked} />
}

/** The choices that have every word, those whose name it is first, then those whose name begins with it, then the others in their order. */
export function fitting(choices: readonly Choice[], text: string): Choice[] {
  const wanted = text.trim().toLowerCase()
  const words = wanted.split(/\s+/).filter(Boolean)
  const rank = (choice: Choice): number => {
    const label = choice.label.toLowerCase()
    return label === wanted ? 0 : label.startsWith(wanted) ? 1 : words.every((word) => label.includes(word)) ? 2 : 3
  }
  const fits = (choice: Choice) => words.every((word) => `${choice.label} ${choice.detail ?? ''}`.toLowerCase().includes(word))
  const found = choices.filter(fits)
  return wanted ? found.toSorted((one, two) => rank(one) - rank(two)) : found
}

function Open({ asked }: { asked: Asked }) {
  const [text, setText] = useState(asked.free?.initial ?? '')
  const [at, setAt] = useState(0)
  const list = useRef<HTMLDivElement>(null)
  const box = useRef<HTMLDivElement>(null)
  const before = useRef(document.activeElement)
  const found = useMemo(() => fitting(asked.choices, text), [asked, text])
  const back = () => {
    useAsked.setState({ asked: null })
    if (before.current instanceof HTMLElement) before.current.focus()
    requestAnimationFrame(focusDrawing) // what had it may be gone, or was nothing
  }
  const take = (choice: Choice | undefined) => {
    if (choice) {
      back()
      choice.run()
    } else if (asked.free && text.trim() && !asked.free.check?.(text.trim())) {
      back()
      asked.free.run(text.trim())
    }
  }
  const written = asked.free?.long && text.trim() !== (asked.free.initial ?? '').trim() ? text.trim() : ''
  const leave = (close: () => void) => {
    close()
    if (written) asked.free?.run(written)
  }
  const left = useRef(leave)
  left.current = leave
  useEffect(() => {
    list.current?.querySelector(`[data-at="${at}"]`)?.scrollIntoView({ block: 'nearest' })
  }, [at])
  useEffect(() => {
    const outside = (event: PointerEvent) => {
      if (!box.current?.contains(event.target as Node)) left.current(() => useAsked.setState({ asked: null }))
    }
    document.addEventListener('pointerdown', outside, true)
    return () => document.removeEventListener('pointerdown', outside, true)
  }, [])
  const wrong = asked.free && text.trim() ? asked.free.check?.(text.trim()) : null
  const place = asked.at ? { left: Math.min(asked.at.x, innerWidth - 300), top: Math.min(asked.at.y, innerHeight - 320) } : { left: innerWidth / 2 - 160, top: 96 }
  return (
    <div
      ref={box}
      className="pop chooser"
      role="dialog"
      aria-label={asked.title}
      style={place}
      onKeyDown={(event) => {
        event.stopPropagation()
        if (event.key === 'Escape') leave(back)
        if (event.key === 'ArrowDown') setAt(Math.min(found.length - 1, at + 1))
        if (event.key === 'ArrowUp') setAt(Math.max(0, at - 1))
        if (event.key === 'Enter' && !(asked.free?.long && !event.ctrlKey)) take(found[at])
        if (['ArrowDown', 'ArrowUp', 'Enter', 'Escape'].includes(event.key) && !(asked.free?.long && event.key === 'Enter' && !event.ctrlKey)) event.preventDefault()
      }}
    >
      <div className="cap px-2 pt-2">{asked.title}</div>
      {asked.note}
      <div className="p-2">
        {asked.free?.long ? (
          // biome-ignore lint/a11y/noAutofocus: it was opened to be typed into
          <textarea autoFocus className="f w-full" rows={4} aria-label={asked.title} value={text} onChange={(event) => setText(event.target.value)} />
        ) : (
          <div className="f">
            <Icon name={asked.choices.length > 0 ? 'search' : 'edit'} size="s" />
            <input
              // biome-ignore lint/a11y/noAutofocus: it was opened to be typed into
              autoFocus
              {...(asked.choices.length > 0 ? { role: 'combobox', 'aria-expanded': true, 'aria-controls': 'chooser-list', 'aria-activedescendant': found[at] ? `choice-${at}` : undefined } : {})}
              aria-label={asked.free?.label ?? asked.title}
              value={text}
              onChange={(event) => {
                setText(event.target.value)
                setAt(0)
              }}
            />
          </div>
        )}
        {wrong ? <div className="t11 bad mt-1">{wrong}</div> : null}
      </div>
      {asked.choices.length > 0 ? (
        <div ref={list} id="chooser-list" role="listbox" aria-label={asked.title} className="max-h-[260px] overflow-auto pb-1">
          {found.length === 0 ? <div className="mut px-3 py-2">{t('finder.none')}</div> : null}
          {found.map((choice, index) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the field above
            <div key={choice.id} id={`choice-${index}`} data-at={index} role="option" tabIndex={-1} aria-selected={index === at} className={`pi cursor-pointer ${index === at ? 'h' : ''}`} onPointerMove={() => setAt(index)} onClick={() => take(choice)}>
              {choice.icon ? <Icon name={choice.icon} /> : null}
              <bdi className="ell grow">{choice.label}</bdi>
              {choice.detail ? <span className="fnt ell max-w-[140px]">{choice.detail}</span> : null}
            </div>
          ))}
        </div>
      ) : (
        <div className="flex justify-end px-2 pb-2">
          <button type="button" className="btn sm p" disabled={!text.trim() || !!wrong} onClick={() => take(undefined)}>
            {asked.free?.label}
          </button>
        </div>
      )}
    </div>
  )
}
