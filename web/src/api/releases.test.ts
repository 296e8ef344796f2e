import { describe, expect, it } from 'vitest'
import { ApiError } from './client'
import { type Release, type TaskService, fieldErrors, idOf, joined, mayCancel, mayPublish, namedServices, nextOffset, shownState } from './releases'

const release = (state: string, partly: string[] = []): Release => ({
  kf_id: 'RE_1', name: 'R', description: '', state, studies: [], tasks: [], notes: [], version: '0.0.0', created_at: '', tags: [], author: 'a', is_major: false, partly_published: partly, run: null, states: [], next_version: null,
})

describe('what may be done with a release', () => {
  it('is canceled until it is being published', () => {
    const may = ['waiting', 'initializing', 'running', 'staged', 'publishing', 'published', 'canceling', 'canceled', 'failed'].filter((state) => mayCancel(release(state)))
    expect(may).toEqual(['waiting', 'initializing', 'running', 'staged'])
  })

  it('is published once it is staged, or where only some have published', () => {
    expect([release('running'), release('staged'), release('failed'), release('failed', ['TA_1'])].map(mayPublish)).toEqual([false, true, false, true])
  })

  it('says where only some have published', () => {
    expect(shownState(release('failed', ['TA_1']))).toBe('partly_published')
    expect(shownState(release('failed'))).toBe('failed')
    expect(shownState(release('canceled', ['TA_1']))).toBe('partly_published')
    expect(mayPublish(release('canceled', ['TA_1']))).toBe(true)
  })
})

describe('what the coordinator refuses', () => {
  it('is said at its field', () => {
    expect(fieldErrors(new ApiError(400, '400', '', [], { url: ['Enter a valid URL.'], name: ['a', 'b'] }))).toEqual({ url: 'Enter a valid URL.', name: 'a b' })
  })

  it('is said of the whole where it is about no field', () => {
    expect(fieldErrors(new ApiError(409, '409', 'It is not staged.', [], { detail: 'It is not staged.' }))).toEqual({ '': 'It is not staged.' })
  })
})

it('finds the id in an address', () => {
  expect(idOf('https://h.example/studies/SD_1/')).toBe('SD_1')
})

describe('the services that a release is asked for by name', () => {
  const service = (kf_id: string) => ({ kf_id }) as TaskService

  it('are none where all that are enabled take part', () => {
    expect(namedServices(null, [service('TS_1')])).toBeUndefined()
    expect(namedServices(new Set(['TS_2', 'TS_1']), [service('TS_1'), service('TS_2')])).toBeUndefined()
  })

  it('are those that were chosen, though others were switched on or off meanwhile', () => {
    expect(namedServices(new Set(['TS_1']), [service('TS_1'), service('TS_2')])).toEqual(['TS_1'])
    expect(namedServices(new Set(['TS_1']), [service('TS_2')])).toEqual(['TS_1'])
    expect(namedServices(new Set(['TS_1', 'TS_2']), [service('TS_2')])).toEqual(['TS_1', 'TS_2'])
  })
})

it('pages are one list, in which what moved from one to the next is there once', () => {
  const page = (...ids: string[]) => ({ count: 5, results: ids.map((kf_id) => ({ kf_id })) })
  expect(joined({ pages: [page('e', 'd'), page('d', 'c')] })).toEqual({ count: 5, results: [{ kf_id: 'e' }, { kf_id: 'd' }, { kf_id: 'c' }] })
  expect(joined({ pages: [] })).toEqual({ count: 0, results: [] })
})

it('the next page begins after what is there, until all are', () => {
  const page = (count: number, n: number) => ({ count, results: Array.from({ length: n }) })
  expect(nextOffset(null, [page(5, 2)])).toBe(2)
  expect(nextOffset(null, [page(5, 2), page(5, 2)])).toBe(4)
  expect(nextOffset(null, [page(5, 2), page(5, 2), page(5, 1)])).toBeUndefined()
  expect(nextOffset(null, [page(5, 2), page(5, 0)])).toBeUndefined()
})
