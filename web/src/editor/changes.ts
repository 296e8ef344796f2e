/** What differs between two definitions, small enough to keep for ever: this is what undo is made of. */
import type { Definition } from '@/diagram/definition'

export interface Change {
  path: string[]
  from?: unknown
  to?: unknown
}
/** One edit: what changed, and the order of keys where that changed too. */
export interface Entry {
  label: string
  changes: Change[]
  orders: { path: string[]; from: string[]; to: string[] }[]
}

type Tree = Record<string, unknown>
const DEEP = new Set(['', 'steps', 'view', 'view.positions', 'view.notes', 'view.groups'])

const isTree = (value: unknown): value is Tree => value !== null && typeof value === 'object' && !Array.isArray(value)

export function difference(label: string, before: Definition, after: Definition): Entry {
  const entry: Entry = { label, changes: [], orders: [] }
  compare(entry, [], before as Tree, after as Tree)
  return entry
}

function compare(entry: Entry, path: string[], before: Tree, after: Tree): void {
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [from, to] = [before[key], after[key]]
    if (from === to) continue
    const below = [...path, key]
    if (DEEP.has(below.join('.')) && isTree(from) && isTree(to)) compare(entry, below, from, to)
    else if (JSON.stringify(from) !== JSON.stringify(to)) entry.changes.push({ path: below, from, to })
  }
  const [was, is] = [Object.keys(before), Object.keys(after)]
  if (was.join('\n') !== is.join('\n')) entry.orders.push({ path, from: was, to: is })
}

export const isNothing = (entry: Entry): boolean => entry.changes.length === 0 && entry.orders.length === 0

/** The definition after an edit, or before it. */
export function replay(definition: Definition, entry: Entry, back: boolean): Definition {
  let made = definition as Tree
  for (const change of entry.changes) made = put(made, change.path, back ? change.from : change.to)
  for (const order of entry.orders) made = sorted(made, order.path, back ? order.from : order.to)
  return made as Definition
}

function put(tree: Tree, [key, ...rest]: string[], value: unknown): Tree {
  if (key === undefined) return tree
  if (rest.length > 0) return { ...tree, [key]: put((isTree(tree[key]) ? tree[key] : {}) as Tree, rest, value) }
  if (value !== undefined) return { ...tree, [key]: value }
  const { [key]: _gone, ...left } = tree
  return left
}

function sorted(tree: Tree, path: string[], keys: string[]): Tree {
  const [key, ...rest] = path
  if (key !== undefined) return isTree(tree[key]) ? { ...tree, [key]: sorted(tree[key] as Tree, rest, keys) } : tree
  return Object.fromEntries([...keys.filter((each) => each in tree), ...Object.keys(tree).filter((each) => !keys.includes(each))].map((each) => [each, tree[each]]))
}
