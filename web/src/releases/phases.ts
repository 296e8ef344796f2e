/** How far a release is: its phases with their states, and when each task was in which state. */
import type { Release, ReleaseTask, Since } from '@/api/releases'

export type PhaseId = 'initialize' | 'run' | 'staged' | 'publish' | 'published'
export type PhaseState = 'done' | 'now' | 'coming' | 'failed' | 'canceled'

export interface Phase {
  id: PhaseId
  state: PhaseState
  from: number | null
  to: number | null
}

const PHASES: readonly [PhaseId, string][] = [
  ['initialize', 'initializing'],
  ['run', 'running'],
  ['staged', 'staged'],
  ['publish', 'publishing'],
  ['published', 'published'],
]
const BROKEN = new Set(['canceling', 'canceled', 'failed'])

const moment = (since: Since | undefined): number | null => (since ? Date.parse(since.at) : null)

/** The five phases, from where it began last; one that was come to twice is shown as the last time. */
export function phasesOf(release: Release): Phase[] {
  const states = release.states.slice(Math.max(0, release.states.findLastIndex((each) => each.state === 'initializing')))
  return PHASES.map(([id, name]) => {
    const at = states.findLastIndex((each) => each.state === name)
    const next = states[at + 1]
    if (at < 0) return { id, state: id === 'initialize' && release.state === 'waiting' ? 'now' : 'coming', from: null, to: null }
    const times = { from: moment(states[at]), to: moment(next) }
    if (id === 'published') return { id, state: 'done', ...times }
    if (!next) return { id, state: 'now', ...times }
    if (!BROKEN.has(next.state)) return { id, state: 'done', ...times }
    return { id, state: release.state === 'failed' ? 'failed' : 'canceled', ...times }
  })
}

export interface Span {
  state: string
  from: number
  /** None where it is in this state now. */
  to: number | null
}

export const TASK_ENDS = new Set(['published', 'canceled', 'failed', 'rejected'])

/** When a task was in which state; an end state lasts no time. */
export function spansOf(task: ReleaseTask): Span[] {
  return task.states.map((each, at) => {
    const from = Date.parse(each.at)
    const next = task.states[at + 1]
    return { state: each.state, from, to: next ? Date.parse(next.at) : TASK_ENDS.has(each.state) ? from : null }
  })
}

const ENDS = new Set(['published', 'canceled', 'failed'])
export const isOver = (release: Release): boolean => ENDS.has(release.state)

/** From when to when the timeline of a release goes. */
export function rangeOf(release: Release, now: number): [number, number] {
  const begin = Date.parse(release.created_at)
  const last = moment(release.states.at(-1)) ?? begin
  return [begin, Math.max(isOver(release) ? last : now, begin + 1000)]
}

/** How many tasks are in one of these states. */
export const countOf = (release: Release, ...states: string[]): number => release.tasks.filter((each) => states.includes(each.state)).length

/** Whether a task is out, also one that ended otherwise and said so later. */
export const isOut = (release: Release, task: ReleaseTask): boolean => task.state === 'published' || release.partly_published.includes(task.kf_id)

/** The names of the services that stand in the way: those that were refused or failed, and are not out. */
export const culprits = (release: Release): string[] =>
  release.tasks.filter((each) => (each.state === 'failed' || each.state === 'rejected') && !isOut(release, each)).map((each) => each.service_name)
