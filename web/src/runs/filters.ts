/** Which runs are listed: all of it is in the address, so that a list can be shared and kept. */

export interface Filter {
  status?: string
  workflow?: string
  version?: string
  subject?: string
  parent?: string
  label?: string
  key?: string
  step?: string
  waiting_for?: string
  since?: string
  until?: string
  q?: string
}

export const PARTS = ['status', 'workflow', 'version', 'subject', 'parent', 'label', 'key', 'step', 'waiting_for', 'since', 'until', 'q'] as const
export type Part = (typeof PARTS)[number]

/** The parts that stand as chips; `q` has its own field. */
export const CHIPS = PARTS.filter((part) => part !== 'q')

/** What an address says; what it does not know is left out. */
export function filterOf(search: Record<string, unknown>): Filter {
  const found: Filter = {}
  for (const part of PARTS) {
    const value = search[part]
    if (value === undefined || value === null || value === '') continue
    found[part] = Array.isArray(value) ? value.map(String).join(',') : String(value)
  }
  return found
}

/** The states of runs that have not ended. */
export const LIVE: ReadonlySet<string> = new Set(['running', 'waiting', 'paused', 'stalled'])
const STATUSES = new Set([...LIVE, 'succeeded', 'failed', 'canceled', 'timed_out'])

const isMoment = (value: string): boolean => /^\d{1,6}[mhd]$/.test(value) || !Number.isNaN(Date.parse(value))
const isPair = (value: string): boolean => /^[^=]+=.+$/s.test(value)

const FITS: Partial<Record<Part, (value: string) => boolean>> = {
  status: (value) => value.split(',').every((each) => STATUSES.has(each)),
  version: (value) => /^\d{1,9}$/.test(value),
  since: isMoment,
  until: isMoment,
  label: isPair,
  key: isPair,
  q: (value) => !value.includes('\u0000'),
}

/** The part of an address that asks for what cannot be, or null: nobody needs to be asked then. */
export const strange = (filter: Filter): Part | null => PARTS.find((part) => filter[part] !== undefined && FITS[part]?.(filter[part] ?? '') === false) ?? null

const SPANS: Record<string, number> = { h: 3_600_000, d: 86_400_000, m: 60_000 }

/** "24h" is 24 hours before now; a moment stays what it is. */
export function moment(text: string, now: number): string {
  const span = /^(\d+)([mhd])$/.exec(text)
  return span ? new Date(now - Number(span[1]) * (SPANS[span[2] ?? 'h'] ?? 0)).toISOString() : text
}

/** The filter as the API takes it. */
export function asked(filter: Filter, now: number): Record<string, string> {
  const found: Record<string, string> = {}
  for (const part of PARTS) {
    const value = filter[part]
    if (value) found[part] = part === 'since' || part === 'until' ? moment(value, now) : value
  }
  return found
}

/** The filter of a bulk action: the statuses are a list there. */
export function bulkFilter(filter: Filter, now: number): Record<string, unknown> {
  const { status, version, ...rest } = asked(filter, now)
  return { ...rest, ...(status ? { status: status.split(',') } : {}), ...(version ? { version: Number(version) } : {}) }
}

export const without = (filter: Filter, part: Part): Filter => {
  const { [part]: _gone, ...rest } = filter
  return rest
}

export const isEmpty = (filter: Filter): boolean => PARTS.every((part) => !filter[part])

/** Whether two filters ask for the same. */
export const same = (one: Filter, two: Filter): boolean => PARTS.every((part) => (one[part] ?? '') === (two[part] ?? ''))
