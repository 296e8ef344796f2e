import { expect, test } from 'vitest'
import { rightsOf } from './rights'

const ALL = { operates: true, authors: true, administers: true, looksEverywhere: true, keepsViews: true }

test('until it is known who looks, nothing is hidden, and nothing is asked for that may be refused', () => {
  expect(rightsOf(undefined)).toEqual({ ...ALL, looksEverywhere: false })
})

test.each([
  [['public', 'read'], { ...ALL, operates: false, authors: false, administers: false, keepsViews: false }],
  [['public', 'read', 'operate', 'repair'], { ...ALL, authors: false, administers: false }],
  [['public', 'read', 'operate', 'repair', 'author'], { ...ALL, administers: false }],
  [['public', 'read', 'operate', 'repair', 'author', 'admin', 'work'], ALL],
] as const)('who may %s', (may, rights) => {
  expect(rightsOf({ may: [...may], workflows: null })).toEqual(rights)
})

test('who is bound to workflows sees no queues and keeps no lists for everybody', () => {
  expect(rightsOf({ may: ['read', 'operate'], workflows: ['video-*'] })).toEqual({ operates: true, authors: false, administers: false, looksEverywhere: false, keepsViews: false })
})
