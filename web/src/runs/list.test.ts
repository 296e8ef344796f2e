import { describe, expect, it } from 'vitest'
import type { RunLine } from '@/api/types'
import { lineNow, seenBy } from './list'

const LINE: RunLine = { id: 'r', workflow: 'w', version: 1, subject: null, status: 'waiting', labels: {}, parent: null, waiting_for: ['go'], started_at: '2026-01-01T10:00:00Z', ended_at: null }
const THEN = Date.parse('2026-01-01T11:00:00Z')

describe('a line of the list', () => {
  it('ends with its run, and waits for nothing then', () => {
    const now = lineNow(LINE, seenBy('succeeded', undefined, THEN))
    expect(now).toEqual({ ...LINE, status: 'succeeded', waiting_for: [], ended_at: '2026-01-01T11:00:00.000Z' })
  })

  it('of a run that had ended did not end again', () => {
    const line: RunLine = { ...LINE, status: 'failed', ended_at: '2026-01-01T10:30:00Z', waiting_for: [] }
    expect(lineNow(line, seenBy('failed', undefined, THEN))).toEqual(line)
    const once = seenBy('succeeded', undefined, THEN)
    expect(seenBy('succeeded', once, THEN + 5_000)).toBe(once)
  })

  it('waits for what the server tells, and until then for what it waited for', () => {
    expect(lineNow(LINE, seenBy('waiting', undefined, THEN)).waiting_for).toEqual(['go'])
    expect(lineNow(LINE, { status: 'waiting', ended_at: null, waiting_for: ['stop'] }).waiting_for).toEqual(['stop'])
  })
})
