import { afterEach, expect, it, vi } from 'vitest'
import { toast } from './toasts'

afterEach(() => vi.unstubAllGlobals())

it('is said also where the page came over plain HTTP from another machine', () => {
  const { getRandomValues } = crypto
  vi.stubGlobal('crypto', { getRandomValues: getRandomValues.bind(crypto) }) // which is all there is then

  expect(toast({ kind: 'ok', title: 'one' })).not.toBe(toast({ kind: 'ok', title: 'two' }))
})
