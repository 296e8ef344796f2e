import { afterEach, expect, it, vi } from 'vitest'
import { linesOn } from './lines'
import type { LogLine } from './types'

const line = (id: number) => ({ id, text: String(id) }) as LogLine
const written = (last: number) => Array.from({ length: last }, (_, at) => line(at + 1))
const signal = new AbortController().signal

/** A server on which so many lines are written; what it was asked for. */
function serve(last: number): string[] {
  const asked: string[] = []
  vi.stubGlobal('fetch', (path: string) => {
    asked.push(path)
    const { searchParams } = new URL(path, 'http://here')
    const after = Number(searchParams.get('after') ?? 0)
    const items = written(last).slice(after, after + Number(searchParams.get('limit')))
    const body = { items, next: after + items.length < last ? 'more' : null }
    return Promise.resolve(new Response(JSON.stringify(body), { headers: { 'content-type': 'application/json' } }))
  })
  return asked
}

afterEach(() => vi.unstubAllGlobals())

it('reads what a talkative run wrote to its end', async () => {
  serve(2500)

  expect(await linesOn('r', [], signal)).toEqual(written(2500))
})

it('asks only for what is new, and again for what may have been overtaken', async () => {
  const asked = serve(2503)

  expect(await linesOn('r', written(2500).filter(({ id }) => id !== 2499), signal)).toEqual(written(2503))
  expect(asked).toEqual(['/api/runs/r/logs?limit=1000&after=2399'])
})
