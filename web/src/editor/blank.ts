/** A definition that says nothing yet, and in which order people read one. */
import type { Definition } from '@/diagram/definition'

export const EMPTY = (name: string): Definition => ({ penstock: 1, name, steps: {} })

const TOP = ['penstock', 'name', 'title', 'description', 'source', 'external', 'params', 'result', 'defaults', 'timeout']

/** A definition with its keys in the order in which people read them; `steps` and `view` come last. */
export function keyOrder(definition: Definition): Definition {
  const keys = Object.keys(definition)
  const middle = keys.filter((key) => !TOP.includes(key) && key !== 'steps' && key !== 'view')
  const ordered = [...TOP.filter((key) => keys.includes(key)), ...middle, 'steps', ...(keys.includes('view') ? ['view'] : [])]
  return Object.fromEntries(ordered.map((key) => [key, definition[key]])) as Definition
}
