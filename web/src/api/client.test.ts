import { describe, expect, it } from 'vitest'
import { detailOf } from './client'

describe('what is said of a refusal', () => {
  it('is the sentence of the server', () => {
    expect(detailOf({ title: 'Conflict', detail: 'It is not staged.' })).toBe('It is not staged.')
    expect(detailOf({ title: 'Not found' })).toBe('Not found')
  })

  it('is what it says of each field, where it says no more', () => {
    expect(detailOf({ studies: ['Invalid pk "SD_1" - object does not exist.'], non_field_errors: ['Invalid data.'] })).toBe('studies: Invalid pk "SD_1" - object does not exist.\nInvalid data.')
  })
})
