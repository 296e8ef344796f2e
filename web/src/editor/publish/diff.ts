/** What differs between two texts, line by line, and between two definitions, step by step. */
import { type Definition, type External, type View, externalName } from '@/diagram/definition'
import { type DiffLine, textDiff } from '@/workflows/diff'
import { canonical } from '../canonical'

export type Line = DiffLine

/** The lines of both texts in order; blank lines at the end say nothing. */
export const lineDiff = (before: string, after: string): Line[] => textDiff(before.trimEnd(), after.trimEnd())

/** Only what changed, with a few lines around it; `null` stands for lines that are left out. */
export function near(lines: Line[], around = 2): (Line | null)[] {
  const kept = new Set<number>()
  lines.forEach((line, at) => {
    if (line.kind !== 'same') for (let each = at - around; each <= at + around; each++) kept.add(each)
  })
  const found: (Line | null)[] = []
  lines.forEach((line, at) => {
    if (kept.has(at)) found.push(line)
    else if (found.at(-1) !== null) found.push(null)
  })
  return found
}

export interface Differing {
  /** A key at the top, or the name of a step. */
  key: string
  step: boolean
  kind: 'added' | 'removed' | 'changed'
}

type Tree = Record<string, unknown>

/** What is different: steps by their names, the rest by its key. Where boxes stand counts as one thing. */
export function differing(before: Definition, after: Definition): Differing[] {
  const compare = (old: Tree, now: Tree, step: boolean): Differing[] =>
    [...new Set([...Object.keys(old), ...Object.keys(now)])].flatMap((key): Differing[] => {
      if (canonical(old[key]) === canonical(now[key])) return []
      return [{ key, step, kind: old[key] === undefined ? 'added' : now[key] === undefined ? 'removed' : 'changed' }]
    })
  const { steps: oldSteps, ...old } = before
  const { steps: nowSteps, ...now } = after
  return [...compare(oldSteps as Tree, nowSteps as Tree, true), ...compare(old as Tree, now as Tree, false)]
}

const partOf = (definition: Definition | null, { key, step }: Differing): unknown => (step ? definition?.steps[key] : definition?.[key])

export interface Leaf {
  /** Where in the thing: `with.to`; empty where it is the thing itself. */
  path: string
  before: unknown
  after: unknown
}

const isTree = (value: unknown): value is Tree => value !== null && typeof value === 'object' && !Array.isArray(value)

/** The values in which two things differ, each with its path: what is only in one of them is undefined in the other. */
export function leaves(before: unknown, after: unknown, path = ''): Leaf[] {
  if (canonical(before) === canonical(after)) return []
  if (!isTree(before) && !isTree(after)) return [{ path, before, after }]
  if ((before !== undefined && !isTree(before)) || (after !== undefined && !isTree(after))) return [{ path, before, after }]
  const keys = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])]
  return keys.flatMap((key) => leaves((before as Tree | undefined)?.[key], (after as Tree | undefined)?.[key], path ? `${path}.${key}` : key))
}

/** The values of one thing in which two definitions differ. */
export const leavesOf = (before: Definition, after: Definition, each: Differing): Leaf[] => leaves(partOf(before, each), partOf(after, each))

/** Who changed a thing since both were the same; where that is not known, both may have. */
export function whoseChange(base: Definition | null, mine: Definition, theirs: Definition, each: Differing): 'mine' | 'theirs' | 'both' {
  if (!base) return 'both'
  const was = canonical(partOf(base, each))
  if (canonical(partOf(mine, each)) === was) return 'theirs'
  return canonical(partOf(theirs, each)) === was ? 'mine' : 'both'
}

/** Theirs, with what is chosen of mine. What was drawn or let in by only one of the two stays, whoever is chosen. */
export function merged(mine: Definition, theirs: Definition, chosen: (each: Differing) => 'mine' | 'theirs', base: Definition | null = null): Definition {
  let made: Definition = { ...theirs, steps: { ...theirs.steps } }
  for (const each of differing(theirs, mine)) {
    if (chosen(each) === 'theirs') continue
    const from = (each.step ? mine.steps : mine) as Tree
    const to = { ...((each.step ? made.steps : made) as Tree) }
    if (from[each.key] === undefined) delete to[each.key]
    else to[each.key] = from[each.key]
    made = each.step ? { ...made, steps: to as Definition['steps'] } : (to as unknown as Definition)
  }
  if (!base) return made
  if (mine.external && theirs.external && canonical(made.external) === canonical(mine.external)) made = { ...made, external: Object.values(together(named(base), named(mine), named(theirs))) }
  if (mine.view && theirs.view && canonical(made.view) === canonical(mine.view)) made = { ...made, view: viewOf(base.view, mine.view, theirs.view) }
  return made
}

const named = (definition: Definition): Record<string, External> => Object.fromEntries((definition.external ?? []).map((each) => [externalName(each), each]))

/** Mine, with what only they changed. */
function together<T>(base: Record<string, T>, mine: Record<string, T>, theirs: Record<string, T>): Record<string, T> {
  const keys = [...new Set([...Object.keys(theirs), ...Object.keys(mine)])]
  const pairs = keys.map((key): [string, T | undefined] => [key, canonical(mine[key]) === canonical(base[key]) ? theirs[key] : mine[key]])
  return Object.fromEntries(pairs.filter((pair): pair is [string, T] => pair[1] !== undefined))
}

function viewOf(base: View | undefined, mine: View, theirs: View): View {
  const parts = (['positions', 'notes', 'groups'] as const).flatMap((key) => (mine[key] || theirs[key] ? [[key, together<unknown>(base?.[key] ?? {}, mine[key] ?? {}, theirs[key] ?? {})] as const] : []))
  return { ...theirs, ...mine, ...Object.fromEntries(parts) } as View
}
