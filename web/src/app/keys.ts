/** Commands by keys, everywhere: never while somebody types, and single letters can be turned off. */
import { useEffect } from 'react'
import { originalOf } from './bindings'

const KEY = 'penstock.letters'

export const lettersOn = () => localStorage.getItem(KEY) !== 'off'
export const setLetters = (on: boolean) => localStorage.setItem(KEY, on ? 'on' : 'off')

/** "Ctrl+Shift+Z" for what was pressed; Cmd counts as Ctrl. */
export function chord(event: KeyboardEvent | React.KeyboardEvent): string {
  const key = event.key.length === 1 ? event.key.toUpperCase() : event.key
  const shifted = event.shiftKey && (event.key.length > 1 || /[A-Z]/i.test(event.key))
  return [event.ctrlKey || event.metaKey ? 'Ctrl' : '', event.altKey ? 'Alt' : '', shifted ? 'Shift' : '', key].filter(Boolean).join('+')
}

export function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) && !(target instanceof HTMLInputElement && /^(checkbox|radio|range)$/.test(target.type))
}

/** Whether something lies over the page and asks: keys are for that alone. */
export const isAsked = (): boolean => document.querySelector('[role=dialog]') !== null

/** Runs what is bound to a chord anywhere on the page. */
export function useKeys(bound: Record<string, (event: KeyboardEvent) => void>): void {
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if (event.defaultPrevented) return
      const name = originalOf(chord(event))
      const run = bound[name]
      if (!run) return
      const letter = !name.includes('Ctrl') && event.key.length === 1
      if (isTyping(event.target) && !name.includes('Ctrl')) return
      if (letter && (!lettersOn() || isAsked())) return
      event.preventDefault()
      run(event)
    }
    globalThis.addEventListener('keydown', pressed)
    return () => globalThis.removeEventListener('keydown', pressed)
  }, [bound])
}
