import { describe, expect, it } from 'vitest'
import { stepDiff, textDiff } from './diff'

describe('a difference', () => {
  it('of texts keeps what is the same', () => {
    expect(textDiff('a\nb\nc', 'a\nx\nc\nd').map((line) => `${line.kind} ${line.text}`)).toEqual(['same a', 'del b', 'add x', 'same c', 'add d'])
  })

  it('of definitions names the steps', () => {
    const before = { steps: { a: { task: 'x' }, b: { task: 'y', after: 'a' }, c: { task: 'z' } } }
    const after = { steps: { a: { task: 'x' }, b: { after: 'a', task: 'other' }, d: { task: 'z' } } }
    expect(stepDiff(before, after)).toEqual({ b: 'changed', c: 'removed', d: 'added' })
  })

  it('does not mind the order of keys', () => {
    expect(stepDiff({ steps: { a: { task: 'x', title: 't' } } }, { steps: { a: { title: 't', task: 'x' } } })).toEqual({})
  })
})
