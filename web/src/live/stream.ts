/** Server-sent events that come back by themselves: after a break it goes on behind the last one that was seen. */
import { onReach, reached } from '@/api/client'

export interface Message {
  event: string
  id: string | null
  data: unknown
}

export interface Watch {
  onMessage: (message: Message) => void
  onState?: (state: 'open' | 'away', nextTryInSeconds: number) => void
}

const FIRST = 500
const LONGEST = 5_000
/** Milliseconds without a word after which a line is dead, whatever the browser believes: a living one speaks every 15 s. */
const SILENT = 40_000

/** Reads the messages out of what has come so far; gives back what is not whole yet. */
export function parse(text: string, take: (message: Message) => void): string {
  const blocks = text.split(/\r?\n\r?\n/)
  const rest = blocks.pop() ?? ''
  for (const block of blocks) {
    let event = 'message'
    let id: string | null = null
    const data: string[] = []
    for (const line of block.split(/\r?\n/)) {
      const colon = line.indexOf(':')
      const name = colon < 0 ? line : line.slice(0, colon)
      const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '')
      if (name === 'event') event = value
      if (name === 'id') id = value
      if (name === 'data') data.push(value)
    }
    if (id !== null || data.length > 0) take({ event, id, data: data.length > 0 ? JSON.parse(data.join('\n')) : null })
  }
  return rest
}

/** The server answered, but not with a stream: that it can be reached is then no reason to ask again at once. */
class NoStream extends Error {}

/** Follows a stream until it is told to stop, or until the stream itself says `end`; after a break it comes back as soon as anybody reaches the server. */
export function follow(path: string, watch: Watch, after?: string): () => void {
  const stop = new AbortController()
  let last = after ?? null
  let pause = FIRST
  let ended = false

  const read = async (line: AbortController) => {
    let silence: ReturnType<typeof setTimeout> | undefined
    const heard = () => {
      clearTimeout(silence)
      silence = setTimeout(() => line.abort(), SILENT)
    }
    line.signal.addEventListener('abort', () => clearTimeout(silence))
    heard()
    const headers: Record<string, string> = { Accept: 'text/event-stream', 'X-Penstock': '1' }
    if (last !== null) headers['Last-Event-ID'] = last
    const response = await fetch(path, { headers, signal: line.signal, credentials: 'same-origin' })
    if (response.status === 401) reached('unauthenticated')
    if (!response.ok || !response.body) throw new NoStream(String(response.status))
    reached('here')
    watch.onState?.('open', 0)
    pause = FIRST
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
    let rest = ''
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      heard()
      rest = parse(rest + value, (message) => {
        if (message.id !== null) last = message.id
        if (message.data === null && message.event === 'message') return
        if (message.event === 'end') ended = true
        watch.onMessage(message)
      })
    }
  }

  const loop = async () => {
    while (!stop.signal.aborted && !ended) {
      let answers = false
      const line = new AbortController()
      const hangUp = () => line.abort()
      stop.signal.addEventListener('abort', hangUp)
      try {
        await read(line)
      } catch (error) {
        if (stop.signal.aborted) return
        answers = error instanceof NoStream
        if (!answers) reached('away')
      } finally {
        stop.signal.removeEventListener('abort', hangUp)
        hangUp()
      }
      if (ended || stop.signal.aborted) return
      const wait = pause * (0.75 + Math.random() / 2)
      watch.onState?.('away', Math.ceil(wait / 1000))
      await sleep(wait, stop.signal, !answers)
      pause = Math.min(LONGEST, pause * 2)
    }
  }
  void loop()
  return () => stop.abort()
}

function sleep(ms: number, signal: AbortSignal, untilReached: boolean): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, ms)
    const forget = untilReached ? onReach((reach) => reach === 'here' && done()) : undefined
    function done() {
      clearTimeout(timer)
      forget?.()
      signal.removeEventListener('abort', done)
      globalThis.removeEventListener('online', done)
      resolve()
    }
    signal.addEventListener('abort', done)
    globalThis.addEventListener('online', done)
  })
}
