import { describe, expect, it } from 'vitest'
import { inWords, worded } from './words'

const definition = { penstock: 1, name: 'w', steps: { mail_bad: { task: 'm', title: 'Email user (failure)' }, b: { task: 'y' } } }

describe('a sentence of the server', () => {
  it('calls steps by their titles', () => {
    expect(inWords("Step 'mail_bad' can never fire: nothing fires 'failed'.", definition)).toBe('“Email user (failure)” can never fire: nothing fires “failed”.')
    expect(inWords("Event 'x' is fired by 'b', but no step waits for it.", definition)).toBe('Event “x” is fired by “b”, but no step waits for it.')
  })

  it('leaves the word where it names no step that is there', () => {
    expect(inWords("step 'gone' waits", definition)).toBe('step “gone” waits')
  })
})

describe('a finding', () => {
  const told = { code: 'missing-event', step: 'mail_bad', event: 'bad', message: "Step 'mail_bad' waits for 'bad', which nothing fires.", hint: "List 'bad' under `emits` of the step that fires it, or declare it under `external`." }

  it('is said in our words', () => {
    expect(worded(told, definition)).toEqual({ sentence: '“Email user (failure)” waits for “bad”, which nothing fires.', hint: 'Mark it as coming from outside, or let a step fire it.' })
  })

  it('of no step is not said of one', () => {
    expect(worded({ ...told, code: 'deadlock', step: null, event: null }, definition).sentence).toBe('The run can come to a standstill: nothing is left to do, and OK was never fired.')
  })

  it.each([
    [
      { ...told, code: 'dead-step', message: "Step 'mail_bad' can never fire: it waits for 'x' or 'y', which only 'b' fires, and 'b' can never fire.", hint: "Mend 'b' first." },
      '“Email user (failure)” can never run: it waits for “x” or “y”, which only “b” fires, and “b” can never run.',
      'Mend “b” first.',
    ],
    [
      { ...told, code: 'time-outs', message: "Step 'mail_bad': `start_to_close` (10h) never matters, because `schedule_to_close` (90s) ends first.", hint: 'Make `start_to_close` shorter than `schedule_to_close`, or leave one of them out.' },
      '“Email user (failure)”: “One attempt at most” (10 h) never matters, because “All in all at most” (90 s) ends first.',
      'Make “One attempt at most” shorter than “All in all at most”, or leave one of them out.',
    ],
    [
      { ...told, code: 'missing-data', message: "An expression of step 'b' reads `data.usr`, which nothing before it provides.", hint: "Add 'usr' to `params`, or set it before. Did you mean `data.user`?" },
      '“b” reads data.usr, which nothing before it provides.',
      'Add “usr” to the input of a run, or set it before. Did you mean “data.user”?',
    ],
    [
      { ...told, message: "Step 'b' also takes 'bad', which nothing fires.", hint: `${told.hint} Did you mean 'sad'?` },
      '“b” also takes “bad”, which nothing fires.',
      'Mark it as coming from outside, or let a step fire it. Did you mean “sad”?',
    ],
  ])('is told with its cause: %#', (finding, sentence, hint) => {
    expect(worded(finding, definition)).toEqual({ sentence, hint })
  })

  it('that we have no words for is said as the server says it, without code', () => {
    expect(worded({ ...told, code: 'of-tomorrow' }, definition).hint).toBe('List “bad” under “emits” of the step that fires it, or declare it under “external”.')
  })
})
