import { describe, expect, it } from 'vitest'
import type { Definition } from '@/diagram/definition'
import { differing, leaves, lineDiff, merged, near, whoseChange } from './diff'

const of = (steps: Definition['steps'], more: Partial<Definition> = {}): Definition => ({ penstock: 1, name: 'w', steps, ...more })

describe('differences of texts', () => {
  it('name the lines that are new and those that are gone', () => {
    const found = lineDiff('a\nb\nc\nd', 'a\nc\nx\nd')
    expect(found.map((line) => `${line.kind[0]}${line.text}`)).toEqual(['sa', 'db', 'sc', 'ax', 'sd'])
  })

  it('leave out what is far from a change', () => {
    const text = Array.from({ length: 20 }, (_, at) => `line ${at}`)
    const found = near(lineDiff(text.join('\n'), [...text.slice(0, 10), 'new', ...text.slice(10)].join('\n')), 1)
    expect(found.map((line) => line?.text ?? '…')).toEqual(['…', 'line 9', 'new', 'line 10', '…'])
  })
})

describe('values that differ', () => {
  it('are named by their path, with both of them', () => {
    const found = leaves({ task: 'x', with: { to: 'a', cc: ['b'] } }, { task: 'x', with: { to: 'c', cc: ['b'] }, retries: 3 })
    expect(found).toEqual([
      { path: 'with.to', before: 'a', after: 'c' },
      { path: 'retries', before: undefined, after: 3 },
    ])
  })

  it('are told one by one where a thing is only in one of the two', () => {
    expect(leaves(undefined, { task: 'x', with: { to: 'a' } }).map((each) => each.path)).toEqual(['task', 'with.to'])
    expect(leaves('old title', undefined)).toEqual([{ path: '', before: 'old title', after: undefined }])
  })
})

describe('two drafts', () => {
  const theirs = of({ a: { task: 'x' }, b: { task: 'theirs' } }, { title: 'Theirs' })
  const mine = of({ a: { task: 'x' }, b: { task: 'mine' }, c: { task: 'new' } })

  it('differ by steps and keys, whatever the order of their keys', () => {
    expect(differing(of({ a: { task: 'x', title: 'y' } }), of({ a: { title: 'y', task: 'x' } }))).toEqual([])
    expect(differing(theirs, mine)).toEqual([
      { key: 'b', step: true, kind: 'changed' },
      { key: 'c', step: true, kind: 'added' },
      { key: 'title', step: false, kind: 'removed' },
    ])
  })

  it('keep what only one of them changed', () => {
    const base = of({ a: { task: 'x' }, b: { task: 'old' } }, { external: ['go'], view: { positions: { a: [0, 0] } } })
    const one = of({ a: { task: 'mine' }, b: { task: 'old' }, c: { task: 'new' } }, { external: ['go', 'my'], view: { positions: { a: [0, 0], c: [9, 9] } } })
    const two = of({ a: { task: 'x' }, d: { task: 'added' } }, { external: ['go', 'your'], view: { positions: { a: [5, 5], d: [7, 7] } } })
    const whose = (each: Parameters<typeof whoseChange>[3]) => whoseChange(base, one, two, each)
    expect(differing(two, one).map((each) => `${each.key} ${whose(each)}`)).toEqual(['a mine', 'd theirs', 'b theirs', 'c mine', 'external both', 'view both'])
    const made = merged(one, two, (each) => (whose(each) === 'theirs' ? 'theirs' : 'mine'), base)
    expect(Object.keys(made.steps)).toEqual(['a', 'd', 'c'])
    expect(made.steps.a?.task).toBe('mine')
    expect(made.external).toEqual(['go', 'your', 'my'])
    expect(made.view?.positions).toEqual({ a: [5, 5], c: [9, 9], d: [7, 7] })
  })

  it('become one, with what was chosen of each', () => {
    const made = merged(mine, theirs, (each) => (each.key === 'c' ? 'mine' : 'theirs'))
    expect(made.steps).toEqual({ a: { task: 'x' }, b: { task: 'theirs' }, c: { task: 'new' } })
    expect(made.title).toBe('Theirs')
  })
})
