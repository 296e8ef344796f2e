import { expect, it } from 'vitest'
import type { MarkingAt, WhyRun } from '@/api/operations'
import { lackingPlace } from './move'

const slot = (step: string, at: number, takes: string[], here: string[] = [], need = 1) => ({ step, slot: at, takes, need, events: here.map((event, number) => ({ number, event, data: null, at: '', step: null })) })
const marking = { run: 'r', seq: 3, steps: {}, slots: [slot('other', 0, ['x']), slot('join', 0, ['left'], ['left']), slot('join', 1, ['right', 'wrong'])] } as MarkingAt
const why = { steps: [{ step: 'join', missing: [{ event: 'right', outside: false, steps: [] }] }] } as unknown as WhyRun

it('is the first slot of a join that lacks an event', () => {
  expect(lackingPlace(marking, why)).toEqual({ to: { step: 'join', slot: 1, event: 'right' } })
})

it('is where something waits already rather than where nothing has come', () => {
  const both = { steps: [{ step: 'other', missing: [] }, ...why.steps] } as unknown as WhyRun
  expect(lackingPlace(marking, both)?.to?.step).toBe('join')
})

it('is the event of several that has not come yet', () => {
  const two = { ...marking, slots: [slot('join', 0, ['a', 'b', 'c'], ['a'], 2)] } as MarkingAt
  expect(lackingPlace(two, why)?.to?.event).toBe('b')
})

it('is nowhere where nothing lacks', () => {
  expect(lackingPlace({ ...marking, slots: [slot('join', 0, ['left'], ['left'])] } as MarkingAt, why)).toBeUndefined()
  expect(lackingPlace(undefined, undefined)).toBeUndefined()
})
