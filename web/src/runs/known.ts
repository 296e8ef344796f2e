/** Runs as they were last asked for: only those are asked for again that changed. */
import type { Run, RunLine } from '@/api/types'

export interface Known {
  /** Somebody told that this one changed. */
  touch: (id: string) => void
  /** Changes may have been missed: those that go on are asked for again. */
  doubt: () => void
  /** The runs of a list, in its order. */
  of: (lines: RunLine[]) => Promise<Run[]>
}

export function knownRuns(ask: (id: string) => Promise<Run>): Known {
  const known = new Map<string, Run>()
  const touched = new Set<string>()
  const isSame = (line: RunLine) => {
    const run = known.get(line.id)
    return run && !touched.has(line.id) && run.status === line.status && run.ended_at === line.ended_at ? run : undefined
  }
  const fetched = async (id: string): Promise<Run> => {
    touched.delete(id) // before asking: a change that comes meanwhile must not be lost
    const run = await ask(id).catch((error: unknown) => {
      touched.add(id)
      throw error
    })
    known.set(id, run)
    return run
  }
  return {
    touch: (id) => void touched.add(id),
    doubt: () => {
      for (const [id, run] of known) if (run.ended_at === null) touched.add(id)
    },
    of: (lines) => Promise.all(lines.map((line) => isSame(line) ?? fetched(line.id))),
  }
}
