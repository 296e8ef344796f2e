/** What a page needs to know of a definition: steps, events from outside, ports. */

export interface StepSaid {
  task?: string
  title?: string
  after?: unknown
  emits?: unknown
  fails?: unknown
  with?: Record<string, unknown>
  disabled?: unknown
}

export interface Said {
  name?: string
  title?: string
  description?: string
  source?: Record<string, unknown> & { kind?: string }
  external?: (string | { name: string; many?: boolean; optional?: boolean })[]
  params?: Record<string, unknown>
  steps?: Record<string, StepSaid>
}

export const stepsOf = (said: Said | undefined): string[] => Object.keys(said?.steps ?? {})

/** Whether a step waits for the decision of a person while it runs. */
export const asksPeople = (said: { steps?: Record<string, { task?: string }> } | undefined, step: string): boolean => said?.steps?.[step]?.task === 'approval'

export const titleOf = (said: Said | undefined, step: string): string => said?.steps?.[step]?.title ?? step

export const externalsOf = (said: Said | undefined): string[] => (said?.external ?? []).map((each) => (typeof each === 'string' ? each : each.name))

/** Whether steps of this workflow start runs. */
export const startsRuns = (said: Said | undefined): boolean => Object.values(said?.steps ?? {}).some((step) => step.task === 'workflow')

/** How far a task says it is, from 0 to 1: it may say 0.5, 50, "50%", or an object with `progress`; none where it says anything else. */
export function shareOf(said: unknown): number | null {
  if (said !== null && typeof said === 'object' && 'progress' in said) return shareOf(said.progress)
  const percent = typeof said === 'string' && /^\s*\d+(\.\d+)?\s*%\s*$/.test(said)
  const value = percent ? Number.parseFloat(said) / 100 : typeof said === 'number' ? (said > 1 ? said / 100 : said) : Number.NaN
  return value >= 0 && value <= 1 ? value : null
}
