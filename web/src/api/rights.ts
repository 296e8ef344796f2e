/** What the one who looks may do, as the server says; until it is known, all of it. */
import { useWho } from './queries'
import type { Who } from './types'

export interface Rights {
  /** Start, cancel, retry, repair, decide; publish releases. */
  operates: boolean
  /** Change workflows and services. */
  authors: boolean
  /** Tokens, secrets, settings, the audit, all of the installation. */
  administers: boolean
  /** Look at queues and workers, which serve all workflows: who is bound to some may not. It is asked before that is, so it is false until it is known. */
  looksEverywhere: boolean
  /** Keep lists of runs for everybody. */
  keepsViews: boolean
}

export function rightsOf(who: Pick<Who, 'may' | 'workflows'> | undefined): Rights {
  const may = (action: Who['may'][number]) => who === undefined || who.may.includes(action)
  const everywhere = (who?.workflows ?? null) === null
  return { operates: may('operate'), authors: may('author'), administers: may('admin'), looksEverywhere: who !== undefined && everywhere, keepsViews: everywhere && may('operate') }
}

export const useRights = (): Rights => rightsOf(useWho().data)
