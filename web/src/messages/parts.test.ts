import { describe, expect, it } from 'vitest'
import { BROUGHT } from './every'

/** Every program of the pages, by its path below `src`. */
const SOURCES = Object.fromEntries(
  Object.entries(import.meta.glob<string>(['../**/*.{ts,tsx}', '!../**/*.test.ts', '!./{en,de}/**'], { query: '?raw', import: 'default', eager: true })).map(([path, text]) => [new URL(path, 'file:///src/messages/').pathname, text]),
)
const PARTS = Object.entries(BROUGHT).map(([area, messages]) => ({ area, keys: Object.keys(messages) }))

const found = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map((match) => match[1] as string)

function fileOf(from: string, name: string): string[] {
  const path = new URL(name.replace(/^@\//, '/src/'), `file://${from}`).pathname
  return name.startsWith('.') || name.startsWith('@/') ? [path, `${path}.ts`, `${path}.tsx`, `${path}/index.ts`, `${path.replace(/\/$/, '')}/index.ts`].filter((each) => each in SOURCES).slice(0, 1) : []
}

const links = (path: string, pattern: RegExp) => found(SOURCES[path] ?? '', pattern).flatMap((name) => fileOf(path, name))
const withIt = (path: string) => links(path, /^(?:import|export|\})(?! type)(?:[^'\n]* from)? '([^']+)'/gm)
const later = (path: string) => links(path, /import\('([^']+)'\)/g)

/** All that is loaded with one program. */
function whole(entry: string, seen = new Set<string>()): Set<string> {
  if (seen.has(entry)) return seen
  seen.add(entry)
  for (const each of withIt(entry)) whole(each, seen)
  return seen
}

const ENTRIES = ['/src/main.tsx', ...new Set(Object.keys(SOURCES).flatMap(later))].filter((path) => !path.startsWith('/src/messages/'))
const WHOLE = new Map(ENTRIES.map((entry) => [entry, whole(entry)]))

/** The areas whose messages are there once it is shown: its own, and those of all that can show it. */
function brought(entry: string, above: string[] = []): Set<string> {
  const own = PARTS.map(({ area }) => area).filter((area) => [...(WHOLE.get(entry) ?? [])].some((path) => SOURCES[path]?.includes(`\nwant('${area}')\n`)))
  const showing = ENTRIES.filter((each) => !above.includes(each) && each !== entry && [...(WHOLE.get(each) ?? [])].some((path) => later(path).includes(entry)))
  const there = showing.map((each) => brought(each, [...above, entry]))
  return new Set([...own, ...[...(there[0] ?? [])].filter((area) => there.every((each) => each.has(area)))])
}

/** The messages that a program says, by name or by how the name begins. */
function said(path: string): string[] {
  const text = SOURCES[path] ?? ''
  const names = new Set(found(text, /'([a-z][\w]*\.[\w.]+)'/g))
  const begins = found(text, /`([a-z][\w]*\.[\w.]*)\$\{/g)
  return PARTS.flatMap(({ area, keys }) => (keys.some((key) => names.has(key) || begins.some((begin) => key.startsWith(begin))) ? [area] : []))
}

describe('messages of parts', () => {
  it.each(ENTRIES)('has what %s says when it is shown', (entry) => {
    const there = brought(entry)

    const missing = [...(WHOLE.get(entry) ?? [])].flatMap((path) => said(path).filter((area) => !there.has(area)).map((area) => `${path} says messages of ${area}`))

    expect(missing).toEqual([])
  })
})
