import { describe, expect, it } from 'vitest'
import { byField, detailOf } from './client'

describe('what is said of a refusal', () => {
  it('is the sentence of the server', () => {
    expect(detailOf({ title: 'Conflict', detail: 'It is not staged.' })).toBe('It is not staged.')
    expect(detailOf({ title: 'Not found' })).toBe('Not found')
  })

  it('is what it says of each field, where it says no more', () => {
    expect(detailOf({ studies: ['Invalid pk "SD_1" - object does not exist.'], non_field_errors: ['Invalid data.'] })).toBe('studies: Invalid pk "SD_1" - object does not exist.\nInvalid data.')
  })
})

describe('what is wrong by field', () => {
  const misfit = (path: string, message: string) => ({ path, code: 'schema', message })

  it('is told of the field that the pointer leads to, the first thing of each', () => {
    const errors = [misfit('/input/n', 'one'), misfit('/input/a b~1c~0/0', 'two'), misfit('/input/n', 'three')]
    expect(byField(errors, 'input')).toEqual({ n: 'one', 'a b/c~': 'two' })
  })

  it('is told of no field where it is about all of them, or about something else', () => {
    expect(byField([misfit('/input', 'one')], 'input')).toEqual({ '': 'one' })
    expect(byField([misfit('/labels/x', 'two')], 'input')).toEqual({ '': 'two' })
  })
})
