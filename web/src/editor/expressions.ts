/** Names in the expressions of a definition: what is renamed is renamed there too. */
import type { Definition } from '@/diagram/definition'

/** What holds an expression as it is; elsewhere one stands in `${ … }`. */
const BARE = new Set(['if', 'cases', 'each', 'match', 'serialize', 'where', 'result'])
const PLAIN = new Set(['title', 'description', 'view', 'name', 'task', 'params', 'after', 'emits', 'fails'])

const isIdentifier = (name: string): boolean => /^[A-Za-z_]\w*$/.test(name)
const quoted = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&')

/** The definition with `steps.from`, `events["from"]` and the like under the new name, and in how many places that was. */
export function renameInExpressions(definition: Definition, root: 'events' | 'steps', from: string, to: string): { definition: Definition; places: number } {
  let places = 0
  const named = new RegExp(`(?<![\\w."'])${root}(\\s*\\[\\s*(["'])${quoted(from)}\\2\\s*\\]${isIdentifier(from) ? `|\\s*\\.\\s*${from}(?!\\w)` : ''})`, 'g')
  const expression = (text: string): string =>
    text.replace(named, (_all, _how, quote: string | undefined) => {
      places++
      if (quote) return `${root}[${quote}${to}${quote}]`
      return isIdentifier(to) ? `${root}.${to}` : `${root}["${to}"]`
    })
  const walk = (value: unknown, bare: boolean): unknown => {
    if (typeof value === 'string') return bare ? expression(value) : value.replace(/\$\{[\s\S]*?\}/g, expression)
    if (Array.isArray(value)) return value.map((each) => walk(each, bare))
    if (value === null || typeof value !== 'object') return value
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, walk(each, bare || BARE.has(key))]))
  }
  const parts = (tree: Record<string, unknown>): Record<string, unknown> => Object.fromEntries(Object.entries(tree).map(([key, each]) => [key, PLAIN.has(key) ? each : walk(each, BARE.has(key))]))
  const { steps, ...top } = definition
  const made = { ...parts(top), steps: Object.fromEntries(Object.entries(steps).map(([name, step]) => [name, parts(step)])) }
  return { definition: places === 0 ? definition : ({ ...definition, ...made } as Definition), places }
}
