import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { reached } from '@/api/client'
import type { Definition } from '@/diagram/definition'
import { setTop } from './document'
import { answer, checkNow, edit, holdTyped, isStale, isUnknown, open, saveAgain, saveNow, typing, undo, unsentOf, useEditor, writeText } from './store'

const START: Definition = { penstock: 1, name: 'w', steps: { a: { task: 'x' } } }

beforeEach(() => {
  vi.useFakeTimers()
  useEditor.setState({ name: 'w', definition: START, written: null, typed: null, asking: null, past: [], future: [], sent: [], save: 'saved', theirs: null, etag: 'e1', readOnly: false })
})

/** The server, as a list of answers: each request takes the next that fits. */
function answers(all: Record<string, [number, unknown][]>): void {
  vi.stubGlobal('fetch', (path: string, { method }: { method: string }) => {
    const [status, body] = all[`${method} ${path}`]?.shift() ?? [500, {}]
    return Promise.resolve(new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json' } }))
  })
  vi.stubGlobal('location', { search: '' })
}

afterEach(() => {
  vi.unstubAllGlobals()
  vi.clearAllTimers()
  vi.useRealTimers()
})

it('changes nothing, back or forth, where one can only look', () => {
  edit('one', setTop({ title: 'A' }))
  useEditor.setState({ readOnly: 'narrow' })

  undo()

  expect(useEditor.getState().definition.title).toBe('A')
})

describe('changes that the server has not', () => {
  it('are counted from what was saved last, not from what can be undone', async () => {
    answers({ 'PUT /api/workflows/w': [[200, { definition: START, text: '', etag: 'e2', started: false, changed: true }]] })
    edit('one', setTop({ title: 'A' }))
    edit('two', setTop({ title: 'B' }))
    expect(unsentOf(useEditor.getState())).toBe(2)

    await saveNow()
    expect(unsentOf(useEditor.getState())).toBe(0)
    edit('three', setTop({ title: 'C' }))
    expect(unsentOf(useEditor.getState())).toBe(1)
    undo()
    expect(unsentOf(useEditor.getState())).toBe(0)
    undo()
    edit('four', setTop({ title: 'D' }))
    expect(unsentOf(useEditor.getState())).toBe(2)
  })
})

describe('a save whose answer was lost', () => {
  const draft = (definition: Definition, etag: string) => ({ name: 'w', definition, text: '', etag, started: false, changed: true })
  const titled = (title: string): Definition => ({ ...START, title })

  it('is not taken for one of somebody else', async () => {
    answers({
      'PUT /api/workflows/w': [[503, {}], [412, {}], [200, draft(titled('B'), 'e3')]],
      'GET /api/workflows/w': [[200, draft({ title: 'A', ...START }, 'e2')]],
    })
    edit('one', setTop({ title: 'A' }))
    await saveNow() // the server kept it, and went away before it said so
    expect(useEditor.getState().save).toBe('away')
    edit('two', setTop({ title: 'B' }))

    await saveNow()
    await vi.advanceTimersByTimeAsync(50)

    expect(useEditor.getState()).toMatchObject({ save: 'saved', etag: 'e3', theirs: null, definition: { title: 'B' } })
  })

  it('does not hide what somebody else saved', async () => {
    answers({ 'PUT /api/workflows/w': [[503, {}], [412, {}]], 'GET /api/workflows/w': [[200, draft(titled('theirs'), 'e2')]] })
    edit('one', setTop({ title: 'A' }))
    await saveNow()
    await saveNow()

    expect(useEditor.getState()).toMatchObject({ save: 'conflict', theirs: { etag: 'e2' } })
  })
})

describe('a server that has too much to do', () => {
  it('is asked again', async () => {
    answers({ 'PUT /api/workflows/w': [[429, {}], [200, { definition: START, text: '', etag: 'e2', started: false, changed: true }]] })
    edit('one', setTop({ title: 'A' }))
    await saveNow()
    expect(useEditor.getState().save).toBe('away')

    await vi.advanceTimersByTimeAsync(5_000)
    expect(useEditor.getState().save).toBe('saved')
  })
})

describe('typed text that cannot be read', () => {
  it('is not replaced by an edit of the drawing before that was answered', () => {
    holdTyped({ text: 'steps: [', refused: true })

    edit('title', setTop({ title: 'T' }))
    expect(useEditor.getState().definition).toBe(START)
    answer(false)
    expect(useEditor.getState()).toMatchObject({ definition: START, typed: { text: 'steps: [' }, asking: null })

    edit('title', setTop({ title: 'T' }))
    answer(true)
    expect(useEditor.getState()).toMatchObject({ definition: { title: 'T' }, typed: null })
  })

  it('is told of as done only when it was', () => {
    const told: Definition[] = []
    holdTyped({ text: 'steps: [', refused: true })

    edit('title', setTop({ title: 'T' }), (before) => told.push(before))
    answer(false)
    expect(told).toEqual([])

    edit('title', setTop({ title: 'T' }), (before) => told.push(before))
    answer(true)
    expect(told).toEqual([START])
    edit('title', (same) => same, (before) => told.push(before))
    expect(told).toHaveLength(1)
  })

  it('is not replaced by undo either', () => {
    edit('title', setTop({ title: 'T' }))
    holdTyped({ text: 'steps: [', refused: true })
    undo()
    expect(useEditor.getState().definition.title).toBe('T')
  })
})

describe('typed text that can be read', () => {
  it('is taken before the drawing is edited, and both stay', () => {
    const said: Definition = { ...START, description: 'typed' }
    const end = typing(() => writeText('text', 'description: typed', said))
    holdTyped({ text: 'description: typed', refused: false })

    edit('title', setTop({ title: 'T' }))
    end()

    expect(useEditor.getState().definition).toMatchObject({ description: 'typed', title: 'T' })
    expect(useEditor.getState().typed).toBeNull()
  })
})

describe('a workflow that was deleted meanwhile', () => {
  it('is told, and saved again under its name when that is wanted', async () => {
    const draft = { name: 'w', definition: START, text: '', etag: 'e2', changed: true, started: false }
    answers({ 'PUT /api/workflows/w': [[412, {}], [201, draft]], 'GET /api/workflows/w': [[404, {}]] })
    edit('title', setTop({ title: 'T' }))
    await saveNow()
    expect(useEditor.getState().save).toBe('gone')
    edit('title', setTop({ title: 'U' }))
    expect(useEditor.getState().save).toBe('gone')

    saveAgain()
    await vi.waitFor(() => expect(useEditor.getState()).toMatchObject({ save: 'saved', etag: 'e2' }))
  })
})

describe('a workflow that could not be loaded', () => {
  const draft = { name: 'w', definition: START, text: '', etag: 'e1', changed: false, started: false }

  it.each([401, 502])('is no empty draft (%i): nothing is sent, and it is loaded when that works', async (status) => {
    answers({ 'GET /api/workflows/w': [[status, {}], [200, draft]] })
    await open('w')
    expect(useEditor.getState().save).toBe('unread')
    expect(isUnknown(useEditor.getState())).toBe(true)
    expect(await saveNow()).toBe(false)
    expect(useEditor.getState().save).toBe('unread')

    reached('here')
    await vi.advanceTimersByTimeAsync(5_000)
    expect(useEditor.getState()).toMatchObject({ save: 'saved', etag: 'e1', definition: START })
  })

  it('is not asked for again and again where it may not be seen', async () => {
    const refused: [number, unknown][] = [[403, { detail: 'no' }], [200, draft]]
    answers({ 'GET /api/workflows/w': refused })
    await open('w')
    reached('here')
    await vi.advanceTimersByTimeAsync(60_000)
    expect(useEditor.getState()).toMatchObject({ save: 'unread', why: 'no' })
    expect(refused).toHaveLength(1)
  })

  it('can be drawn where it is new, without the server', async () => {
    answers({})
    await open('w', true)
    expect(useEditor.getState().save).toBe('missing')
    edit('title', setTop({ title: 'T' }))
    expect(useEditor.getState().save).toBe('unsaved')
  })
})

describe('the check', () => {
  const report = { verdict: 'proved', findings: [], states: 1, seconds: 0 }

  it('is stale while nobody answers, and done when somebody signed in again', async () => {
    answers({ 'POST /api/check': [[200, report], [401, {}], [200, report]] })
    await checkNow()
    expect(isStale(useEditor.getState())).toBe(false)
    edit('title', setTop({ title: 'T' }))
    await checkNow()
    expect(isStale(useEditor.getState())).toBe(true)

    await vi.advanceTimersByTimeAsync(3_100)
    expect(isStale(useEditor.getState())).toBe(false)
    expect(useEditor.getState().checked).toBe(useEditor.getState().definition)
  })
})
