import { expect, it } from 'vitest'
import type { WhyRun } from '@/api/operations'
import { errorReason, listReason, runReason, stepReason } from './reasons'

const why = (status: WhyRun['status'], waiting_for: string[] = []): WhyRun => ({ run: 'r', status, waiting_for, text: 'as the server says', steps: [] })
const run = { ending: null, error: null }

it('says what a run waits for', () => {
  expect(runReason(why('waiting', ['paid', 'late']), run)).toBe('It waits for “paid” or “late” from outside.')
  expect(runReason(why('failed'), { ...run, error: { message: 'out of memory' } })).toBe('It failed: out of memory.')
  expect(runReason(why('running'), { ...run, ending: 'canceled' })).toBe('It is being cleaned up; then it ends as canceled.')
})

it('tells times by the clock of the reader', () => {
  const said = stepReason({ step: 'a', reason: 'timer', text: "'a' sleeps until 2020-11-16T12:25:43.095053Z.", until: '2020-11-16T12:25:43.095053Z' })
  expect(said).toMatch(/^Sleeps until .*2020.*25:43$/)
})

it('says why a step waits, and leaves what is new to the server', () => {
  expect(stepReason({ step: 'a', reason: 'serialized', text: '', key: 'k', holders: ['r1'], ahead: 2 })).toBe('Goes one at a time: run r1 has the key “k”, and 2 more wait before it')
  expect(stepReason({ step: 'a', reason: 'failed', text: "'a' failed: out of memory." })).toBe('out of memory.')
  expect(stepReason({ step: 'a', reason: 'of tomorrow', text: 'as the server says' })).toBe('as the server says')
})

it('says why a list does not move', () => {
  expect(listReason({ task_list: 'l', reason: 'no worker', text: '', ready: 1, held: 0, running: 0, workers: [] })).toBe('No worker serves this list; 1 task waits.')
})

it('says why something failed where the engine says so, and leaves what a task says', () => {
  expect(errorReason({ kind: 'error', message: 'out of memory' })).toBe('out of memory')
  expect(errorReason({ kind: 'lost', message: 'the worker vanished', detail: { limit: 'lost' } })).toBe('the worker vanished')
  expect(errorReason({ kind: 'timeout', message: 'the attempt outlived its start time-out', detail: { limit: 'start' } })).toBe('the attempt outlived its time-out (start)')
  expect(errorReason({ kind: 'timeout', message: 'the run outlived its timeout of 5m' })).toBe('the run outlived its time-out (5 min)')
  expect(errorReason({ kind: 'child', message: "run 'r1' of 'w' ended as failed: no room", detail: { run: 'r1', status: 'failed' } })).toBe('run r1 has failed: no room')
})
