import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { reached } from '@/api/client'
import { cache } from '@/api/queries'
import { connect, useConnection } from './connection'
import { type Message, follow, parse } from './stream'

describe('a stream', () => {
  it('is read message by message, and keeps what is not whole', () => {
    const seen: Message[] = []
    const rest = parse('event: history\nid: 3\ndata: {"seq":3}\n\n: still here\nid: 3\n\nevent: hist', (message) => seen.push(message))
    expect(seen).toEqual([
      { event: 'history', id: '3', data: { seq: 3 } },
      { event: 'message', id: '3', data: null },
    ])
    expect(rest).toBe('event: hist')
  })
})

describe('a stream that broke', () => {
  let asked = 0
  let answer: () => Promise<Response>
  beforeEach(() => {
    vi.useFakeTimers()
    asked = 0
    answer = () => Promise.reject(new TypeError('away'))
    for (const name of ['addEventListener', 'removeEventListener']) vi.stubGlobal(name, () => undefined)
    vi.stubGlobal('fetch', () => {
      asked += 1
      return answer()
    })
  })
  afterEach(() => {
    vi.unstubAllGlobals()
    vi.useRealTimers()
    vi.restoreAllMocks()
  })
  const settled = () => vi.advanceTimersByTimeAsync(0)
  const open = () => Promise.resolve(new Response(new ReadableStream()))

  it('comes back as soon as anybody reaches the server', async () => {
    const states: string[] = []
    const stop = follow('/api/stream', { onMessage: () => undefined, onState: (state) => states.push(state) })
    await vi.advanceTimersByTimeAsync(60_000) // the pauses are as long as they get
    const before = asked
    await settled()
    expect(asked).toBe(before)

    answer = open
    reached('here')
    await settled()
    stop()

    expect([asked - before, states.at(-1)]).toEqual([1, 'open'])
  })

  it('is not asked for at once where the server answers without one', async () => {
    answer = () => Promise.resolve(new Response('', { status: 503 }))
    const stop = follow('/api/stream', { onMessage: () => undefined })
    await settled()
    for (let n = 0; n < 5; n++) reached('here')
    await settled()
    stop()

    expect(asked).toBe(1)
  })

  it('is given up and asked for anew where nothing was heard for long', async () => {
    const states: string[] = []
    vi.stubGlobal('fetch', (_path: string, { signal }: { signal: AbortSignal }) => {
      asked += 1
      const body = new ReadableStream({ start: (control) => signal.addEventListener('abort', () => control.error(signal.reason)) })
      return Promise.resolve(new Response(body))
    })
    const stop = follow('/api/stream', { onMessage: () => undefined, onState: (state) => states.push(state) })
    await vi.advanceTimersByTimeAsync(30_000)
    expect([asked, states]).toEqual([1, ['open']])

    await vi.advanceTimersByTimeAsync(15_000)
    stop()

    expect([asked, states]).toEqual([2, ['open', 'away', 'open']])
  })

  it('is kept as long as the server says that it is there', async () => {
    vi.stubGlobal('fetch', () => {
      asked += 1
      const body = new ReadableStream({ start: (control) => void setInterval(() => control.enqueue(new TextEncoder().encode(': still here\n\n')), 15_000) })
      return Promise.resolve(new Response(body))
    })
    const stop = follow('/api/stream', { onMessage: () => undefined })
    await vi.advanceTimersByTimeAsync(300_000)
    stop()

    expect(asked).toBe(1)
  })

  it('is open before what is shown is asked for anew', async () => {
    const seen: string[] = []
    vi.spyOn(cache, 'invalidateQueries').mockImplementation(() => {
      seen.push(useConnection.getState().state)
      return Promise.resolve()
    })
    connect()
    await vi.advanceTimersByTimeAsync(60_000)
    expect(seen).toEqual([])

    answer = open
    reached('here')
    await settled()
    expect(seen).toEqual(['live'])
    await vi.advanceTimersByTimeAsync(10_000)
    expect(seen).toEqual(['live'])
  })
})
