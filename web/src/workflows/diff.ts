/** What differs between two texts, line by line, and between two definitions, step by step. */
import type { Said } from '@/run/facts'

export interface DiffLine {
  kind: 'same' | 'add' | 'del'
  text: string
}

/** Beyond this the table of the comparison would be too large: then the ends that are alike stay and the middle is changed. */
const CELLS = 4_000_000

export function textDiff(before: string, after: string): DiffLine[] {
  const one = before.split('\n')
  const two = after.split('\n')
  let head = 0
  while (head < one.length && head < two.length && one[head] === two[head]) head++
  let tail = 0
  while (tail < one.length - head && tail < two.length - head && one[one.length - 1 - tail] === two[two.length - 1 - tail]) tail++
  const middle = lines(one.slice(head, one.length - tail), two.slice(head, two.length - tail))
  const same = (text: string): DiffLine => ({ kind: 'same', text })
  return [...one.slice(0, head).map(same), ...middle, ...one.slice(one.length - tail).map(same)]
}

function lines(one: string[], two: string[]): DiffLine[] {
  const gone = one.map((text): DiffLine => ({ kind: 'del', text }))
  const come = two.map((text): DiffLine => ({ kind: 'add', text }))
  if (one.length * two.length > CELLS || one.length === 0 || two.length === 0) return [...gone, ...come]
  const wide = two.length + 1
  const longest = new Uint32Array((one.length + 1) * wide)
  for (let a = one.length - 1; a >= 0; a--)
    for (let b = two.length - 1; b >= 0; b--) longest[a * wide + b] = one[a] === two[b] ? longest[(a + 1) * wide + b + 1]! + 1 : Math.max(longest[(a + 1) * wide + b]!, longest[a * wide + b + 1]!)
  const found: DiffLine[] = []
  let a = 0
  let b = 0
  while (a < one.length || b < two.length) {
    if (a < one.length && b < two.length && one[a] === two[b]) {
      found.push({ kind: 'same', text: one[a]! })
      a++
      b++
    } else if (a < one.length && (b >= two.length || longest[(a + 1) * wide + b]! >= longest[a * wide + b + 1]!)) found.push(gone[a++]!)
    else found.push(come[b++]!)
  }
  return found
}

export type StepChange = 'added' | 'removed' | 'changed'

/** Which steps differ; where a step stands in the drawing is no difference. */
export function stepDiff(before: Said | undefined, after: Said | undefined): Record<string, StepChange> {
  const [one, two] = [before?.steps ?? {}, after?.steps ?? {}]
  const found: Record<string, StepChange> = {}
  for (const name of Object.keys(one)) {
    if (!(name in two)) found[name] = 'removed'
    else if (ordered(one[name]) !== ordered(two[name])) found[name] = 'changed'
  }
  for (const name of Object.keys(two)) if (!(name in one)) found[name] = 'added'
  return found
}

const ordered = (value: unknown): string => JSON.stringify(value, (_name, each: unknown) => (each !== null && typeof each === 'object' && !Array.isArray(each) ? Object.fromEntries(Object.entries(each).sort(([one], [two]) => (one < two ? -1 : 1))) : each))
