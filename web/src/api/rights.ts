/** What the one who looks may do, as far as their role says; until it is known, all of it. */
import { useWho } from './queries'

const AUTHORS: ReadonlySet<string> = new Set(['author', 'admin'])
const OPERATORS: ReadonlySet<string> = new Set(['operator', ...AUTHORS])

export interface Rights {
  /** Start, cancel, publish, write notes. */
  operates: boolean
  /** Change workflows and services. */
  authors: boolean
}

export const rightsOf = (role: string | undefined): Rights => ({ operates: role === undefined || OPERATORS.has(role), authors: role === undefined || AUTHORS.has(role) })

export const useRights = (): Rights => rightsOf(useWho().data?.role)
