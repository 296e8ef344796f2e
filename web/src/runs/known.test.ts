import { describe, expect, it } from 'vitest'
import type { Run, RunLine } from '@/api/types'
import { knownRuns } from './known'

const line = (id: string, status = 'running', ended_at: string | null = null) => ({ id, status, ended_at }) as unknown as RunLine

function watched() {
  const asked: string[] = []
  const there = new Map<string, RunLine>()
  const known = knownRuns(async (id) => {
    asked.push(id)
    return there.get(id) as unknown as Run
  })
  const of = async (...lines: RunLine[]) => {
    for (const each of lines) there.set(each.id, each)
    const runs = await known.of(lines)
    return { ids: runs.map((run) => run.id), asked: asked.splice(0) }
  }
  return { ...known, of, asked }
}

describe('runs that are known', () => {
  it('are asked for once while they do not change', async () => {
    const { of } = watched()

    expect(await of(line('a'), line('b', 'succeeded', 'then'))).toEqual({ ids: ['a', 'b'], asked: ['a', 'b'] })
    expect(await of(line('c'), line('a'), line('b', 'succeeded', 'then'))).toEqual({ ids: ['c', 'a', 'b'], asked: ['c'] })
  })

  it('are asked for again when they changed, ended, or changes may have been missed', async () => {
    const { of, touch, doubt } = watched()
    const ended = line('b', 'succeeded', 'then')
    await of(line('a'), ended, line('c'))

    touch('a')
    expect((await of(line('a'), ended, line('c', 'failed', 'now'))).asked).toEqual(['a', 'c'])
    doubt()
    expect((await of(line('a'), ended)).asked).toEqual(['a'])
  })

  it('that change while they are asked for are asked for again', async () => {
    const { of, touch } = watched()

    const first = of(line('a'))
    touch('a')
    await first

    expect((await of(line('a'))).asked).toEqual(['a'])
  })
})
