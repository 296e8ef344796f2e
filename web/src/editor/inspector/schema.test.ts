import { describe, expect, it } from 'vitest'
import { type Schema, fieldsOf, firstValue, isExpression, kindOf, lineTexts, pieces, readJson, sampleOf, shapeOf, textsLine, typedNumber, wayOf } from './schema'

describe('one text or several', () => {
  it('are one line', () => {
    expect(kindOf(shapeOf({ anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] }, {}))).toBe('texts')
    expect(kindOf(shapeOf({ anyOf: [{ type: 'string' }, { type: 'number' }] }, {}))).toBe('choice')
  })

  it('are written with a comma, and read again', () => {
    expect(lineTexts('ann@x.org, bob@x.org')).toEqual(['ann@x.org', 'bob@x.org'])
    expect(lineTexts(' ann@x.org ')).toBe('ann@x.org')
    expect(lineTexts(' ')).toBeUndefined()
    expect(lineTexts('${ join(data.who, ",") }')).toBe('${ join(data.who, ",") }')
    expect(textsLine(['a', 'b'])).toBe('a, b')
  })
})

describe('forms from schemas', () => {
  const schema: Schema = {
    type: 'object',
    required: ['to'],
    properties: {
      subject: { type: 'string', title: 'Subject' },
      to: { type: 'string' },
      attach_log: { type: 'boolean' },
      template: { enum: ['ok', 'failure'] },
      size: { anyOf: [{ type: 'integer' }, { type: 'null' }] },
      rows: { type: 'array', items: { type: 'string' } },
      more: { $ref: '#/$defs/More' },
      if: { type: 'string', format: 'cel' },
      odd: { type: ['string', 'integer'] },
      env: { type: 'object', additionalProperties: { type: 'string' } },
    },
    $defs: { More: { type: 'object', properties: { a: { type: 'number' } } } },
  }

  it('have what is needed first, and a kind for each field', () => {
    const fields = fieldsOf(schema, {})
    expect(fields[0]).toMatchObject({ name: 'to', label: 'To', required: true })
    expect(Object.fromEntries(fields.map((field) => [field.name, field.kind]))).toEqual({ to: 'text', subject: 'text', attach_log: 'boolean', template: 'enum', size: 'number', rows: 'list', more: 'object', if: 'cel', odd: 'json', env: 'map' })
  })

  it('ask for durations and moments as text, though they may be numbers too', () => {
    const kinds = [{ type: ['string', 'number'], format: 'duration' }, { type: ['string', 'number'], format: 'moment' }, { anyOf: [{ type: 'string' }, { type: 'number' }], format: 'duration' }].map((each) => kindOf(shapeOf(each, {})))
    expect(kinds).toEqual(['time', 'time', 'time'])
  })

  it('show what is there besides', () => {
    expect(fieldsOf(schema, { extra: [1] }).at(-1)).toMatchObject({ name: 'extra', kind: 'json' })
    expect(fieldsOf(undefined, { cup: 'blue', n: 2 }).map((field) => field.kind)).toEqual(['text', 'number'])
  })

  it('know which of several shapes a value has', () => {
    const ways: Schema[] = [{ type: 'string' }, { type: 'object', required: ['kind'], properties: { kind: { const: 'b' } } }]
    expect([wayOf(ways, 'x'), wayOf(ways, { kind: 'b' }), wayOf(ways, 4)]).toEqual([0, 1, 0])
    expect(kindOf(shapeOf({ oneOf: ways }, {}))).toBe('choice')
  })

  it('begin a new entry with something of its shape', () => {
    expect(firstValue({ type: 'object', required: ['a'], properties: { a: { type: 'integer', minimum: 3 } } })).toEqual({ a: 3 })
  })

  it('make a sample from examples, else from the shape', () => {
    expect(sampleOf({ examples: [{ a: 1 }] })).toEqual({ a: 1 })
    expect(sampleOf({ type: 'object', properties: { user: { type: 'string' }, n: { type: 'integer' } } })).toEqual({ user: 'user', n: 0 })
  })
})

describe('expressions in fields', () => {
  it('are told from the text around them', () => {
    expect(pieces("Your ${ run.subject } of ${ {'a': '}'}.a }!")).toEqual([
      { kind: 'text', text: 'Your ' },
      { kind: 'expression', text: 'run.subject' },
      { kind: 'text', text: ' of ' },
      { kind: 'expression', text: "{'a': '}'}.a" },
      { kind: 'text', text: '!' },
    ])
    expect(isExpression('costs $${ 5 }')).toBe(false)
    expect(isExpression('${ open')).toBe(false)
  })
})

describe('what is typed', () => {
  it('is a number where it is one', () => {
    expect([typedNumber('3.5'), typedNumber(''), typedNumber('${ data.n }')]).toEqual([3.5, undefined, '${ data.n }'])
  })

  it('is JSON, or says why not', () => {
    expect(readJson('{"a": 1}')).toEqual({ value: { a: 1 } })
    expect(readJson('{a')).toHaveProperty('error')
  })
})
