import { describe, expect, it } from 'vitest'
import { ApiError } from '@/api/client'
import { sentence } from './acting'

describe('what is said of a refusal', () => {
  it('tells how large something is, how large it may be, and what to do', () => {
    const refused = new ApiError(413, 'payload_too_large', 'the input has 319000 bytes of JSON, 262144 at most: keep it elsewhere and hand on a reference')
    expect(sentence(refused)).toBe('This is 312 KiB; a run or an event may carry 256 KiB. Store it and pass its address.')
  })

  it('tells without a number that a run has ended', () => {
    expect(sentence(new ApiError(409, 'ended', "run '1a1e5a6e993de049a17f' has ended as canceled"))).toBe('This run has been canceled meanwhile. There is nothing left to do to it.')
  })

  it('is the sentence of the server else', () => {
    expect(sentence(new ApiError(409, 'conflict', 'the run has ended'))).toBe('the run has ended')
  })
})
