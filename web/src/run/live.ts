/** The history of one run as it grows: read from its stream, kept over breaks, told to the page a few times a second. */
import { useEffect, useMemo, useSyncExternalStore } from 'react'
import { cache } from '@/api/queries'
import { at } from '@/api/client'
import type { Entry } from '@/api/types'
import { follow, type Message } from '@/live/stream'

/** Milliseconds between two looks of the page at what has come; longer where so much comes that nobody can follow it. */
const PACE = 200
const BUSY = { pace: 600, entries: 60 }
/** Milliseconds between two questions for what the history does not say. */
const ASK = 600
/** Entries that are kept: of a longer run the newest. */
const MOST = 50_000

export interface Told {
  entries: Entry[]
  /** How often something came: what is shown is made of this. */
  version: number
  state: 'open' | 'away'
  ended: boolean
  /** Entries that came with the latest change. */
  latest: Entry[]
}

export class LiveRun {
  private told: Told = { entries: [], version: 0, state: 'away', ended: false, latest: [] }
  private coming: Entry[] = []
  private readonly listeners = new Set<() => void>()
  private timer: ReturnType<typeof setTimeout> | undefined
  private asking: ReturnType<typeof setTimeout> | undefined
  private stop: (() => void) | undefined

  constructor(private readonly id: string) {}

  /** Begins, or goes on behind the last entry: a run that was retried lives again. */
  begin(): void {
    this.stop?.()
    const last = this.told.entries.at(-1)?.seq
    this.stop = follow(
      at`/api/runs/${this.id}/stream`,
      { onMessage: (message) => this.take(message), onState: (state) => this.change({ state }) },
      last === undefined ? undefined : String(last),
    )
  }

  end(): void {
    this.stop?.()
    this.stop = undefined
    clearTimeout(this.timer)
    clearTimeout(this.asking)
    this.timer = this.asking = undefined
  }

  private take(message: Message): void {
    if (message.event === 'reset') this.ask()
    if (message.event === 'end') {
      this.flush()
      this.change({ ended: true })
      this.ask()
    }
    if (message.event !== 'history') return
    const entry = message.data as Entry
    const last = this.coming.at(-1) ?? this.told.entries.at(-1)
    if (last && entry.seq <= last.seq) return
    this.coming.push(entry)
    this.timer ??= setTimeout(() => this.flush(), this.told.latest.length > BUSY.entries ? BUSY.pace : PACE)
  }

  private flush(): void {
    clearTimeout(this.timer)
    this.timer = undefined
    if (this.coming.length === 0) return
    const latest = this.coming
    this.coming = []
    const before = this.told.entries
    const entries = before.length + latest.length > MOST ? [...before, ...latest].slice(-MOST) : before.concat(latest)
    // What was there before the page was opened is no news: it is not played.
    this.change({ entries, latest: before.length === 0 ? [] : latest, ended: false })
    this.ask()
  }

  private change(change: Partial<Told>): void {
    this.told = { ...this.told, ...change, version: this.told.version + 1 }
    for (const listener of this.listeners) listener()
  }

  /** Asks anew for the run, why it waits and its tokens: not more often than a person can follow. */
  ask(): void {
    this.asking ??= setTimeout(() => {
      this.asking = undefined
      void cache.invalidateQueries({ queryKey: ['run', this.id], predicate: (each) => typeof each.queryKey.at(-1) !== 'number' })
    }, ASK)
  }

  /** Asks for what the history does not tell: who has a task, how far it is, what it logs. A slow answer is waited for. */
  look(): void {
    void cache.invalidateQueries({ queryKey: ['run', this.id], predicate: ({ queryKey: [, , part] }) => part === undefined || part === 'why' || part === 'logs' }, { cancelRefetch: false })
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }
  readonly now = (): Told => this.told
}

export function useLiveRun(id: string): { told: Told; live: LiveRun } {
  const live = useMemo(() => new LiveRun(id), [id])
  useEffect(() => {
    live.begin()
    return () => live.end()
  }, [live])
  return { told: useSyncExternalStore(live.subscribe, live.now), live }
}
