import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { undoable, WINDOW } from './undo'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

it('is done once, when the time to undo it is over', async () => {
  const work = vi.fn(() => Promise.resolve())
  undoable({ title: 'x', work })
  await vi.advanceTimersByTimeAsync(WINDOW - 1)
  expect(work).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(WINDOW)
  expect(work).toHaveBeenCalledOnce()
})
