import { expect, test } from 'vitest'
import { rightsOf } from './rights'

test.each([
  [undefined, true, true],
  ['viewer', false, false],
  ['operator', true, false],
  ['author', true, true],
  ['admin', true, true],
  ['worker', false, false],
])('%s may operate: %s, and change: %s', (role, operates, authors) => {
  expect(rightsOf(role)).toEqual({ operates, authors })
})
