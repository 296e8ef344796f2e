import { describe, expect, it } from 'vitest'
import { shareOf } from './facts'

describe('how far a task is', () => {
  it('may be said in several ways', () => {
    expect([0, 0.5, 1, 50, '50%', ' 12.5 % ', { state: 'running', progress: '64%' }].map(shareOf)).toEqual([0, 0.5, 1, 0.5, 0.5, 0.125, 0.64])
  })

  it('is not known where it says something else', () => {
    expect([null, undefined, 'half', '50', 250, -1, {}, Number.NaN].map(shareOf)).toEqual([null, null, null, null, null, null, null, null])
  })
})
