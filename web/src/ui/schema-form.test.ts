import { expect, it } from 'vitest'
import { begun, filledIn, lacking, lineOf, newLine } from './schema-form'

const names = { type: 'array', items: { type: 'string' } }

it('has lines for a list of what can be filled in, and JSON for other lists', () => {
  expect(lineOf(names)).toEqual({ type: 'string' })
  expect(lineOf({ type: ['array', 'null'], items: { type: 'object', properties: { a: { type: 'integer' } } } })).not.toBeNull()
  expect([lineOf({ type: 'array' }), lineOf({ type: 'array', items: { type: 'object' } }), lineOf({ type: 'string' })]).toEqual([null, null, null])
})

it('begins a line with something of its shape', () => {
  expect([newLine({ type: 'string' }), newLine({ type: 'integer', minimum: 2 }), newLine({ type: 'boolean' }), newLine({ enum: ['a', 'b'] })]).toEqual(['', 2, false, 'a'])
})

const text = { type: 'string' }
const schema = { type: 'object', required: ['names', 'sure', 'text'], properties: { names, sure: { type: 'boolean' }, text } }

it('begins with a line for a needed list, and a needed switch is off', () => {
  expect(begun(schema)).toEqual({ names: [''], sure: false })
})

it('lacks a needed list in which nothing was written', () => {
  expect(lacking(schema, begun(schema))).toEqual(['names', 'text'])
  expect(lacking(schema, { names: [], sure: false, text: ' ' })).toEqual(['names', 'text'])
  expect(lacking(schema, { names: ['Ada', ''], sure: false, text: 'x' })).toEqual([])
})

it('may be left empty where the schema says so', () => {
  expect(lacking({ required: ['names', 'text'], properties: { names: { ...names, minItems: 0 }, text: { ...text, minLength: 0 } } }, { names: [], text: '' })).toEqual([])
})

it('sends no lines in which nothing was written', () => {
  expect(filledIn(schema, { names: ['Ada', ' ', ''], sure: true })).toEqual({ names: ['Ada'], sure: true })
})
