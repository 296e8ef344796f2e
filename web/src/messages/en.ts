/** Every message in English that comes with the first page, by areas; the others come with the parts that say them. */
import { shell } from './en/shell'
import { home } from './en/home'
import { attention } from './en/attention'
import { cards } from './en/cards'
import { commands } from './en/commands'
import type { diagram } from './en/diagram'
import type { editing } from './en/editing'
import type { pages } from './en/pages'
import type { releases } from './en/releases'
import type { templates } from './en/templates'

export const en = { ...shell, ...home, ...attention, ...cards, ...commands }

export type MessageKey = keyof typeof en | keyof typeof diagram | keyof typeof editing | keyof typeof pages | keyof typeof releases | keyof typeof templates
