import { expect, it } from 'vitest'
import { isSimple, ofType, putFields } from './shapes'

it('writes fields as a schema, and forgets what is needed of a field that is gone', () => {
  expect(putFields(undefined, { a: { type: 'string' } }, ['a', 'gone'])).toEqual({ type: 'object', required: ['a'], properties: { a: { type: 'string' } } })
})

it('is no schema without fields', () => {
  expect(putFields({ type: 'object', properties: { a: {} } }, {}, ['a'])).toBeUndefined()
})

it('makes a list one whose lines can be filled in', () => {
  expect(ofType({ type: 'string', title: 'Names' }, 'array')).toEqual({ type: 'array', title: 'Names', items: { type: 'string' } })
  expect(ofType({ type: 'array', items: { type: 'string' } }, 'boolean')).toEqual({ type: 'boolean' })
})

it('leaves what is more than fields to the schema itself', () => {
  expect([isSimple({ type: 'object' }), isSimple({ oneOf: [] }), isSimple({ type: 'array' })]).toEqual([true, false, false])
})
