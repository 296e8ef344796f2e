import { describe, expect, it } from 'vitest'
import type { Finding } from '@/api/types'
import type { Offers } from '@/diagram/definition'
import { inWords, worded } from './words'

const definition = { penstock: 1, name: 'w', steps: { mail_bad: { task: 'mail', title: 'Email user (failure)' }, b: { task: 'y' } } }
const offers: Offers = { mail: { name: 'mail', title: 'Mail', doc: '', kind: 'built-in', ports: ['done', 'failed'], parameters: { properties: { to: { title: 'To' } } } } }

describe('a sentence of the server', () => {
  it('calls steps by their titles', () => {
    expect(inWords("Step 'mail_bad' can never fire: nothing fires 'failed'.", definition)).toBe('“Email user (failure)” can never fire: nothing fires “failed”.')
    expect(inWords("Event 'x' is fired by 'b', but no step waits for it.", definition)).toBe('Event “x” is fired by “b”, but no step waits for it.')
  })

  it('leaves the word where it names no step that is there', () => {
    expect(inWords("step 'gone' waits", definition)).toBe('step “gone” waits')
  })
})

const found = (code: string, args: Finding['args']) => ({ code, step: String(args.step ?? ''), message: 'Of the server.', hint: "Look at 'mail_bad'.", args })
const said = (code: string, args: Finding['args']) => {
  const { sentence, hint } = worded(found(code, args), definition, offers)
  return [sentence, hint]
}

describe('a finding', () => {
  it.each<[string, Finding['args'], string, string]>([
    ['unbounded', { step: 'mail_bad', event: 'x' }, 'Event “x” can pile up at step “Email user (failure)” without limit: each turn of a loop leaves more of them behind.', 'Let each turn of the loop fire only what it uses up, or let “Email user (failure)” be part of the loop.'],
    ['missing-event', { variant: 'also', remedy: 'fire', step: 'b', event: 'bad', events: ['bad'], near: 'sad' }, 'Step “b” also takes “bad”, which nothing fires.', 'Let a step fire “bad” (“emits”), or let it come from outside (“external”). Did you mean “sad”?'],
    ['dead-step', { variant: 'one', remedy: 'fix', step: 'b', events: ['x', 'y'], steps: ['mail_bad'] }, 'Step “b” can never fire: it waits for “x” or “y”, which only “Email user (failure)” fires, and “Email user (failure)” can never fire.', 'Fix “Email user (failure)” first.'],
    ['deadlock', { variant: 'waits', remedy: 'paths', step: 'b', event: 's', events: ['s', ['q', 'mail_bad']], all: ['p', 's', 'q', 'mail_bad'] }, 'The run can come to a standstill: “b” still waits for “s” and either “q” or “Email user (failure)”, which will not come.', 'Fire “s” and either “q” or “Email user (failure)” on every path that leads here, or, if one of them is enough, write “p | s | q | mail_bad”.'],
    ['fires-twice', { remedy: 'join', step: 'b', events: ['p', 'q'] }, 'Step “b” can fire more than once in a run.', 'To wait for all of them write “after: [p, q]”; to take only the first write “after: [{need: 1, of: [p, q]}]”.'],
    ['time-outs', { variant: 'beyond', step: 'b', inner: 'start_to_close', time: '10h', outer: 'schedule_to_close', limit: '90s' }, 'Step “b”: “One attempt at most” (10 h) never matters, because “All in all at most” (90 s) ends first.', 'Make “One attempt at most” shorter than “All in all at most”, or leave one of them out.'],
    ['missing-setting', { step: 'mail_bad', task: 'mail', setting: 'to' }, 'Step “Email user (failure)” is not filled in: “mail” needs “To”.', 'Fill in “To” in its settings (“with”).'],
    ['unknown-field', { variant: 'data', setting: 'result', expression: 'b', name: 'b' }, 'In “result”: nothing provides “data.b”.', 'Add “b” to “params”, or set it in a step before.'],
  ])('is said as the server says it, in the words of the pages: %s', (code, args, sentence, hint) => {
    expect(said(code, args)).toEqual([sentence, hint])
  })

  it.each<[string, Finding['args']]>([
    ['of-tomorrow', { step: 'b' }],
    ['unbounded', {}],
  ])('that we have no words for, or that has no arguments, is said as the server says it: %s', (code, args) => {
    expect(said(code, args)).toEqual(['Of the server.', 'Look at “Email user (failure)”.'])
  })
})
