import { expect, it } from 'vitest'
import { isEditor } from './where'

it('keeps changes in the editor alone', () => {
  expect(['/app/workflows/a/edit', '/app/new', '/app/workflows/edit', '/app/workflows/a', '/app/runs/r1', '/'].map(isEditor)).toEqual([true, true, false, false, false, false])
})
