/** Keys that people changed: which chord stands for which of the program's own. Kept in this browser. */
import { create } from 'zustand'

const KEY = 'penstock.keys'

/** By the program's own chord ("Ctrl+K", "L"): the one that is pressed in its place. */
type Bindings = Record<string, string>

function kept(): Bindings {
  try {
    const found: unknown = JSON.parse(localStorage.getItem(KEY) ?? '{}')
    return found !== null && typeof found === 'object' ? Object.fromEntries(Object.entries(found).filter((each): each is [string, string] => typeof each[1] === 'string')) : {}
  } catch {
    return {}
  }
}

export const useBindings = create<{ bindings: Bindings }>(() => ({ bindings: typeof localStorage === 'undefined' ? {} : kept() }))

/** The chord of the program that a pressed one stands for; nothing where its own key was given away. */
export function originalOf(pressed: string, bindings: Bindings = useBindings.getState().bindings): string {
  const changed = Object.entries(bindings).find(([, now]) => now === pressed)
  if (changed) return changed[0]
  return bindings[pressed] === undefined ? pressed : ''
}

/** What is to be pressed for a chord of the program. */
export const shownOf = (original: string, bindings: Bindings = useBindings.getState().bindings): string => bindings[original] ?? original

/** Which chord of the program is already pressed by that, if any. */
export function takenBy(pressed: string, originals: readonly string[], bindings: Bindings = useBindings.getState().bindings): string | undefined {
  return originals.find((original) => shownOf(original, bindings) === pressed)
}

export function bind(original: string, pressed: string | null): void {
  const { [original]: _old, ...rest } = useBindings.getState().bindings
  const bindings = pressed === null || pressed === original ? rest : { ...rest, [original]: pressed }
  localStorage.setItem(KEY, JSON.stringify(bindings))
  useBindings.setState({ bindings })
}

export function unbindAll(): void {
  localStorage.removeItem(KEY)
  useBindings.setState({ bindings: {} })
}
