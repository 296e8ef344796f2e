/** What built-in boxes say of themselves, in the language of the reader: the server says it in English. */
import { sent } from '@/api/sent'
import { type Language, language } from '.'

/** English to another language; "mail: Subject" is what the box `mail` means by "Subject". */
export type Words = Record<string, string>

interface Offered {
  name: string
  kind?: string
  doc: string
  parameters: Record<string, unknown>
}

const DICTIONARIES: Partial<Record<Language, () => Promise<{ default: Words }>>> = { de: sent(() => import('./de/boxes.json')) }
const TEXTS = new Set(['title', 'description'])

/** Offers in the language of the reader; those of workers, and all of them where the words do not come, as they are. */
export async function spokenOffers<T extends Offered>(offers: T[]): Promise<T[]> {
  const words = await DICTIONARIES[language()]?.().then(
    (file) => file.default,
    () => undefined,
  )
  return words ? offers.map((offer) => (offer.kind === 'built-in' ? translated(offer, words) : offer)) : offers
}

/** A box whose doc, titles and descriptions are in other words, as far as there are any. */
export function translated<T extends Offered>(offer: T, words: Words): T {
  const say = (text: string): string => words[`${offer.name}: ${text}`] ?? words[text] ?? text
  const walk = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(walk)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, TEXTS.has(key) && typeof each === 'string' ? say(each) : walk(each)]))
  }
  return { ...offer, doc: say(offer.doc), parameters: walk(offer.parameters) }
}
