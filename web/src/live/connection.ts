/** Whether the server is there, for the foot of the sidebar and for whoever keeps changes back meanwhile. */
import { create } from 'zustand'
import { cache } from '@/api/queries'
import { onReach } from '@/api/client'
import { follow } from './stream'

interface Connection {
  state: 'connecting' | 'live' | 'away'
  since: number
  nextTry: number
  wantsSignIn: boolean
}

export const useConnection = create<Connection>(() => ({ state: 'connecting', since: Date.now(), nextTry: 0, wantsSignIn: false }))

type Change = { run: string; workflow: string; status: string; seq: number; subject: string | null }
const changed = new Set<(change: Change) => void>()

/** Be told of every run that changes. */
export function onChange(listener: (change: Change) => void): () => void {
  changed.add(listener)
  return () => changed.delete(listener)
}

let stop: (() => void) | undefined

/** Begins to look on; again after a sign-in, or because somebody wants it now. */
export function connect(): void {
  stop?.()
  stop = follow('/api/stream', {
    onState: (state, nextTry) => {
      const back = state === 'open' && useConnection.getState().state === 'away'
      useConnection.setState((now) => ({
        state: state === 'open' ? 'live' : 'away',
        since: state === 'open' || now.state !== 'away' ? Date.now() : now.since,
        nextTry,
      }))
      if (back) renew()
    },
    onMessage: (message) => {
      if (message.event === 'reset') void cache.invalidateQueries()
      if (message.event === 'change') for (const listener of changed) listener(message.data as Change)
    },
  })
}

/** Milliseconds that the stream has to come back before what is shown is renewed without it. */
const WITHOUT = 3_000
let wasAway = false
let later: ReturnType<typeof setTimeout> | undefined

/** Asks for everything anew: what a page shows is then of one moment. */
function renew(): void {
  clearTimeout(later)
  later = undefined
  wasAway = false
  void cache.invalidateQueries()
}

onReach((reach) => {
  if (reach === 'unauthenticated') useConnection.setState({ wantsSignIn: true })
  if (reach === 'away') wasAway = true
  if (reach !== 'here' || !wasAway) return
  // Half of a page would be of now and half of before the break: the streams come back first.
  if (useConnection.getState().state === 'away') later ??= setTimeout(renew, WITHOUT)
  else renew()
})
