/** What each tab of the browser keeps of a draft: the definition, what can be undone, and whether the server has it. */
import type { Draft } from '@/api/types'
import type { Definition } from '@/diagram/definition'
import type { Entry } from './changes'
import { canonical } from './canonical'

export interface Kept {
  name: string
  /** Under which it is stored, where another tab left it. */
  id?: string
  definition: Definition
  /** The text that says it, where somebody wrote one. */
  text?: string
  /** Text that somebody typed and that says no definition yet. */
  typed?: string
  etag: string | null
  /** What the server had under that tag. */
  base?: Definition | null
  unsaved: boolean
  past: Entry[]
  future: Entry[]
  /** How many of its changes the server has not. */
  unsent?: number
  /** What was sent and nobody answered. */
  unanswered?: Definition[]
}

/** Whether the server has what was sent from here, so that nobody else saved: the answer was lost, or the page was closed before it came. */
export function isOwn(draft: Draft, { unanswered = [], definition, text }: Partial<Kept>): boolean {
  const there = canonical(draft.definition)
  const sent = definition && (text ?? draft.text) === draft.text ? [...unanswered, definition] : unanswered
  return sent.some((each) => canonical(each) === there)
}

let opened: Promise<IDBDatabase> | undefined

function open(): Promise<IDBDatabase> {
  opened ??= new Promise((resolve, reject) => {
    const request = indexedDB.open('penstock', 1)
    request.onupgradeneeded = () => request.result.createObjectStore('drafts', { keyPath: 'name' })
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })
  return opened
}

async function within<T>(mode: IDBTransactionMode, act: (store: IDBObjectStore) => IDBRequest<T>): Promise<T | undefined> {
  try {
    const database = await open()
    return await new Promise<T>((resolve, reject) => {
      const request = act(database.transaction('drafts', mode).objectStore('drafts'))
      request.onsuccess = () => resolve(request.result)
      request.onerror = () => reject(request.error)
    })
  } catch {
    return undefined // a browser that keeps nothing still edits
  }
}

/** As it is stored: under the workflow and the tab. One that has only the name was kept before tabs were told apart. */
interface Stored extends Omit<Kept, 'name'> {
  name: string
  at?: number
}

const SEAM = '\u0000'
const TAB = 'penstock.tab'
const LET_GO = 500
const lockOf = (tab: string): string => `penstock tab ${tab}`
const tabOf = (stored: Stored): string => stored.name.split(SEAM)[1] ?? ''

let own: Promise<string> | undefined

/** The name of this tab, which a reload keeps; a copy of the tab gets another. */
function thisTab(): Promise<string> {
  own ??= claimed(globalThis.sessionStorage?.getItem(TAB) ?? null)
  return own
}

async function claimed(wish: string | null): Promise<string> {
  const tab = wish ?? Math.random().toString(36).slice(2)
  if (!(await locked(tab)) && wish !== null) return claimed(null)
  globalThis.sessionStorage?.setItem(TAB, tab)
  return tab
}

/** Whether no other tab has that name. The page that was reloaded may hold it for a moment. */
function locked(tab: string): Promise<boolean> {
  const locks = globalThis.navigator?.locks
  if (!locks) return Promise.resolve(true)
  return new Promise((resolve) => {
    const held = () => {
      resolve(true)
      return new Promise(() => undefined) // as long as the page lives
    }
    locks.request(lockOf(tab), { signal: AbortSignal.timeout(LET_GO) }, held).catch(() => resolve(false))
  })
}

/** The tabs that are open, as far as the browser tells. */
async function openTabs(): Promise<Set<string>> {
  const { held = [] } = (await globalThis.navigator?.locks?.query()) ?? {}
  return new Set(held.map((lock) => lock.name ?? ''))
}

const isWorth = (stored: Stored): boolean => stored.unsaved || stored.typed !== undefined

/** What this tab goes on with, and which others are left: its own, else the newest of a closed tab that the server has not. */
export function choice<T extends Stored>(all: T[], tab: string, open: ReadonlySet<string>): { mine: T | undefined; left: T[]; past: T[] } {
  const newest = [...all].sort((one, two) => (two.at ?? 0) - (one.at ?? 0))
  const ours = newest.find((each) => tabOf(each) === tab)
  const closed = newest.filter((each) => each !== ours && !open.has(lockOf(tabOf(each))))
  const worth = closed.filter(isWorth)
  const mine = ours && isWorth(ours) ? ours : (worth[0] ?? ours ?? closed[0])
  return { mine, left: worth.filter((each) => each !== mine), past: closed.filter((each) => each === mine || !isWorth(each)) }
}

/** What is kept of a workflow for this tab, and what other tabs left behind when they were closed. */
export async function load(name: string): Promise<{ kept: Kept | undefined; left: Kept[] }> {
  const all = (await within<Stored[]>('readonly', (store) => store.getAll(IDBKeyRange.bound(name, `${name}${SEAM}\uffff`)))) ?? []
  const { mine, left, past } = choice(all, await thisTab(), await openTabs())
  if (mine && past.includes(mine)) await keep({ ...mine, name })
  for (const each of past) await within('readwrite', (store) => store.delete(each.name))
  const named = (stored: Stored): Kept => ({ ...stored, name, ...(stored === mine ? {} : { id: stored.name }) })
  return { kept: mine && named(mine), left: left.map(named) }
}

export async function keep(kept: Kept): Promise<void> {
  const tab = await thisTab()
  await within('readwrite', (store) => store.put({ ...kept, name: `${kept.name}${SEAM}${tab}`, at: Date.now() }))
}

/** What another tab left behind is not wanted any more. */
export const forget = async (kept: Kept): Promise<void> => void (kept.id && (await within('readwrite', (store) => store.delete(kept.id as string))))
