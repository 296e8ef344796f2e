/** What the tasks of a run wrote, as it grows: only what is new is asked for. */
import { at, get, query } from './client'
import type { LogLine, Page } from './types'

const PAGE = 1000
/** Lines that are kept: of more, the newest. */
const MOST = 20_000
/** Lines that are asked for again: two that are written at once may be seen one after the other, and not in their order. */
const AGAIN = 100

/** All lines, of which `known` are there already. */
export async function linesOn(run: string, known: LogLine[], signal: AbortSignal): Promise<LogLine[]> {
  let lines = known.slice(0, Math.max(0, known.length - AGAIN))
  for (;;) {
    const page = await get<Page<LogLine>>(`${at`/api/runs/${run}/logs`}${query({ limit: PAGE, after: lines.at(-1)?.id })}`, signal)
    lines = lines.concat(page.items).slice(-MOST)
    if (!page.next) return lines
  }
}
