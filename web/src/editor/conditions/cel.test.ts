import { describe, expect, it } from 'vitest'
import { type Row, type Rows, fieldText, fieldsIn, readRows, shownValue, typedValue, writeRows, writtenOver } from './cel'

const again = (source: string) => {
  const rows = readRows(source)
  return rows ? writeRows(rows) : null
}

describe('conditions as rows', () => {
  it.each([
    ["data.user.endsWith('@test.edu') && steps['Extract metadata'].output.duration < 5"],
    ["has(tags.mime) && tags.mime.startsWith('image/')"],
    ["data.size >= 1000 || (data.kind == 'film' && !data.draft)"],
    ["data.kind in ['a', 'b', 'c']"],
    ["glob(data.key, '*.jpg') && !has(tags.done)"],
    ["data.it == 'that\\'s \\\\ it'"],
    ['data.a == data.b && data.list[0] != null'],
  ])('reads and writes %s', (source) => {
    expect(again(source)).toBe(source)
  })

  it('means the same by `a && b || c` as CEL does', () => {
    expect(again('data.a && data.b || data.c')).toBe('(data.a && data.b) || data.c')
  })

  it.each([['size(data.list) > 3'], ['data.all(x, x > 1)'], ['data.a + 1 == 2'], ['data.a ? true : false'], ['(data.a && (data.b || (data.c && data.d)))'], ['data.a =='], ["data.x == 'a\\x41'"]])('leaves %s as text', (source) => {
    expect(readRows(source)).toBeNull()
  })

  it('has no row for an empty condition', () => {
    expect(readRows('  ')).toEqual({ kind: 'group', join: 'and', items: [] })
  })

  it('begins a new condition with rows: what always holds stays until a field is chosen', () => {
    const none: Rows = { kind: 'group', join: 'and', items: [] }
    const row: Row = { kind: 'row', field: '', op: '==', value: { kind: 'plain', text: '1' } }
    expect(readRows('true')).toEqual(none)
    expect(writtenOver('true', { ...none, items: [row] })).toBe('true')
    expect(writtenOver('true', { ...none, items: [{ ...row, field: 'data.n' }] })).toBe('data.n == 1')
    expect(writtenOver('data.n == 1', none)).toBe('')
  })

  it('leaves out rows whose field is not chosen yet', () => {
    const empty: Row = { kind: 'row', field: '', op: '==', value: { kind: 'text', text: '' } }
    const rows: Rows = { kind: 'group', join: 'and', items: [empty, { ...empty, field: 'data.a' }] }
    expect(writeRows(rows)).toBe("data.a == ''")
  })
})

describe('values that people type', () => {
  it.each([
    ['5', { kind: 'plain', text: '5' }],
    ['"5"', { kind: 'text', text: '5' }],
    ['true', { kind: 'plain', text: 'true' }],
    ['data.b', { kind: 'field', text: 'data.b' }],
    ['data is here', { kind: 'text', text: 'data is here' }],
  ])('takes %s for what it is, and shows it so', (typed, value) => {
    expect(typedValue(typed, '==')).toEqual(value)
    expect(shownValue(typedValue(typed, '=='))).toBe(typed)
  })

  it('takes a list apart at its commas', () => {
    expect(typedValue('a, 2', 'in')).toEqual({ kind: 'list', items: [{ kind: 'text', text: 'a' }, { kind: 'plain', text: '2' }] })
  })

  it('takes what a text is tested for as text', () => {
    expect(typedValue('5', 'endsWith')).toEqual({ kind: 'text', text: '5' })
  })
})

describe('a row that is not filled in yet', () => {
  it('is not written: nothing is larger than no value', () => {
    const rows = (value: string) => ({ kind: 'group', join: 'and', items: [{ kind: 'row', field: 'data.n', op: '>', value: typedValue(value, '>') }, { kind: 'row', field: 'data.a', op: '==', value: typedValue('', '==') }] }) as const

    expect(writeRows(rows('') as unknown as Rows)).toBe("data.a == ''")
    expect(writeRows(rows('5') as unknown as Rows)).toBe("data.n > 5 && data.a == ''")
  })
})

describe('fields', () => {
  it('are read as people say them', () => {
    expect(fieldText("steps['look at it'].output.size", (step) => step.toUpperCase())).toBe('LOOK AT IT › size')
    expect(fieldText('data.user')).toBe('data › user')
  })

  it('of a sample are found with their values', () => {
    expect(fieldsIn({ data: { user: 'ada', 'odd key': { n: 1 } } })).toEqual([
      { field: 'data.user', value: 'ada' },
      { field: "data['odd key'].n", value: 1 },
    ])
  })
})
