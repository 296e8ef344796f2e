/** For tests: every message in English is there. */
import { type Area, bringWanted, speak, want } from '.'
import { de } from './de'
import { en } from './en'
import { diagram as deDiagram } from './de/diagram'
import { editing as deEditing } from './de/editing'
import { pages as dePages } from './de/pages'
import { releases as deReleases } from './de/releases'
import { templates as deTemplates } from './de/templates'
import { diagram as enDiagram } from './en/diagram'
import { editing as enEditing } from './en/editing'
import { pages as enPages } from './en/pages'
import { releases as enReleases } from './en/releases'
import { templates as enTemplates } from './en/templates'

/** What comes with parts, by their area. */
export const BROUGHT: Record<Area, object> = { diagram: enDiagram, editing: enEditing, pages: enPages, releases: enReleases, templates: enTemplates }

export const EVERY = {
  en: { ...en, ...enDiagram, ...enEditing, ...enPages, ...enReleases, ...enTemplates },
  de: { ...de, ...deDiagram, ...deEditing, ...dePages, ...deReleases, ...deTemplates },
}

await speak('en')
for (const area of Object.keys(BROUGHT)) want(area as Area)
await bringWanted(new Set())
