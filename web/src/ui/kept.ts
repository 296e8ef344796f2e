/** What was typed into something that was left before it was done: in this tab it is there again when that is opened again. */
import { useState } from 'react'

const kept = new Map<string, unknown>()

/** A state that outlives what shows it, until it is let go. The key stays the same as long as it is shown. */
export function useKept<T>(key: string, begin: () => T): [T, (next: T) => void] {
  const [value, setValue] = useState<T>(() => (kept.has(key) ? (kept.get(key) as T) : begin()))
  const set = (next: T) => {
    kept.set(key, next)
    setValue(next)
  }
  return [value, set]
}

/** It was done, or is not wanted: the next one begins anew. */
export const letGo = (key: string): void => void kept.delete(key)
