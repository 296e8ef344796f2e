import { expect, it } from 'vitest'
import type { Draft } from '@/api/types'
import { verdictsOf } from './verdict'

const broken = { verdict: 'refuted', findings: [{ severity: 'error' }], published_version: 3, changed: true } as Draft
const sound = { verdict: 'proved' as const, findings: [] }

it('seals what runs, and says beside it how the draft stands', () => {
  expect(verdictsOf(broken, sound)).toEqual({ seal: { kind: 'proved', warnings: 0 }, draft: { kind: 'refuted', errors: 1 } })
})

it('has no seal for what runs before it is checked', () => {
  expect(verdictsOf(broken, undefined).seal).toBeNull()
})

it('seals the draft where nothing else is there', () => {
  expect(verdictsOf({ ...broken, published_version: null }, undefined)).toEqual({ seal: { kind: 'refuted', errors: 1 }, draft: null })
})

it('has no seal for a draft without a step', () => {
  expect(verdictsOf({ ...broken, verdict: 'undecided', published_version: null, definition: { steps: {} } } as Draft, undefined)).toEqual({ seal: null, draft: null })
})
