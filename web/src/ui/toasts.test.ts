import { afterEach, expect, it, vi } from 'vitest'
import { type Toast, fewer, toast } from './toasts'

afterEach(() => vi.unstubAllGlobals())

it('is said also where the page came over plain HTTP from another machine', () => {
  const { getRandomValues } = crypto
  vi.stubGlobal('crypto', { getRandomValues: getRandomValues.bind(crypto) }) // which is all there is then

  expect(toast({ kind: 'ok', title: 'one' })).not.toBe(toast({ kind: 'ok', title: 'two' }))
})

it('leaves the newest, and what can still be undone', () => {
  const line = (id: string): Toast => ({ id, kind: 'ok', title: id, ...(id.startsWith('undo') ? { counts: true } : {}) })
  const left = (...ids: string[]) => fewer(ids.map(line)).map((each) => each.id)

  expect(left('undo 1', 'a', 'undo 2', 'b', 'c', 'd')).toEqual(['undo 1', 'undo 2', 'c', 'd'])
  expect(left('undo 1', 'undo 2', 'undo 3', 'undo 4', 'undo 5', 'a')).toEqual(['undo 1', 'undo 2', 'undo 3', 'undo 4', 'undo 5', 'a'])
})
