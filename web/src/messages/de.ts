/** Every message in German that comes with the first page, by areas. */
import type { en } from './en'
import { shell } from './de/shell'
import { home } from './de/home'
import { attention } from './de/attention'
import { cards } from './de/cards'
import { commands } from './de/commands'

export const de: Record<keyof typeof en, string> = { ...shell, ...home, ...attention, ...cards, ...commands }
