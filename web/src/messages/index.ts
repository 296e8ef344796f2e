/** One way to every text: `t('runs.count', { n: 3 })`. */
import { sent } from '@/api/sent'
import type { MessageKey } from './en'
import { format, type Values } from './format'

export type { MessageKey } from './en'
export type { Value } from './format'
export type Language = 'en' | 'de'

/** A file of messages: all that it exports are some. */
type File = Record<string, Partial<Record<MessageKey, string>>>
type InEach = Record<Language, () => Promise<File>>

const KEY = 'penstock.language'
const AGAIN_AFTER = 1_000
const BASE: InEach = { en: sent(() => import('./en')), de: sent(() => import('./de')) }
/** What comes with the parts that want it: drawings, the editor, pages other than the first, those about releases, and the beginning of a workflow with the tour. */
const PARTS = {
  diagram: { en: () => import('./en/diagram'), de: () => import('./de/diagram') },
  editing: { en: () => import('./en/editing'), de: () => import('./de/editing') },
  pages: { en: () => import('./en/pages'), de: () => import('./de/pages') },
  releases: { en: () => import('./en/releases'), de: () => import('./de/releases') },
  templates: { en: () => import('./en/templates'), de: () => import('./de/templates') },
} satisfies Record<string, InEach>
export type Area = keyof typeof PARTS

const catalogue = {} as Record<MessageKey, string>
/** How messages are brought; one that was tried in vain stays. */
export type Bringing = () => Promise<File>
const loads = new Map<Area, Bringing>()
const wanted = new Set<Bringing>()
const failed = new Set<Bringing>()
const here = new Set<Area>()
let current: Language = 'en'

/** The text of a message in the language of the reader. */
export function t(key: MessageKey, values: Values = {}): string {
  return format(catalogue[key], values, current)
}

/** Whether there is a message of that name, for names that come from the server. */
export function isMessage(key: string): key is MessageKey {
  return key in catalogue
}

/** Says that a part which is loaded just now has messages of its own. */
export function want(area: Area): void {
  if (here.has(area)) return
  const load = loads.get(area) ?? bringing(area)
  loads.set(area, load)
  wanted.add(load)
  failed.delete(load) // that it failed for another part is no reason for this one to do without
}

function bringing(area: Area): Bringing {
  const load = sent<File>(() => PARTS[area][current]())
  return async () => {
    const file = await load()
    here.add(area)
    return file
  }
}

/** Brings the messages that are wanted, before the part is shown that wants them; `own` are those of the part. Raises what the browser does where one of these does not come. */
export async function bringWanted(own: Set<Bringing>): Promise<void> {
  for (const load of wanted) if (!failed.has(load)) own.add(load)
  await Promise.all([...wanted].map((load) => bring(load).catch((error: unknown) => (own.has(load) ? Promise.reject(error) : undefined))))
}

async function bring(load: Bringing): Promise<void> {
  try {
    take(await load())
    wanted.delete(load)
  } catch (error) {
    failed.add(load)
    throw error
  }
}

function take(file: File): void {
  Object.assign(catalogue, ...Object.values(file))
}

export function language(): Language {
  return current
}

/** Loads the language that was chosen here, else the browser's. */
export async function loadLanguage(): Promise<void> {
  const chosen = localStorage.getItem(KEY) ?? navigator.language
  document.documentElement.lang = chosen.startsWith('de') ? 'de' : 'en'
  await speak(chosen.startsWith('de') ? 'de' : 'en')
}

/** Loads the messages that every page may want. Without them nothing can be said, so they are asked for until they come. */
export async function speak(chosen: Language): Promise<void> {
  current = chosen
  for (;;) {
    try {
      take(await BASE[chosen]())
      return
    } catch {
      await new Promise((resolve) => setTimeout(resolve, AGAIN_AFTER))
    }
  }
}

/** Keeps the choice and loads the page anew: every text changes. */
export function chooseLanguage(chosen: Language): void {
  localStorage.setItem(KEY, chosen)
  location.reload()
}
