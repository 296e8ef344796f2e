import { expect, test } from 'vitest'
import { type Choice, fitting } from './chooser'

const choice = (label: string, detail = ''): Choice => ({ id: label, label, detail, run: () => undefined })
const labels = (text: string, ...choices: Choice[]) => fitting(choices, text).map((each) => each.label)

test('what is named so comes before what only speaks of it', () => {
  expect(labels('send', choice('Mail', 'Send a mail.'), choice('Send'))).toEqual(['Send', 'Mail'])
})

test('names that begin with it come before names that have it', () => {
  expect(labels('tag', choice('Auto tag'), choice('Tag by size'))).toEqual(['Tag by size', 'Auto tag'])
})

test('every word must be there, in the name or in what it does', () => {
  expect(labels('mail user', choice('Mail', 'to a user'), choice('Mail'))).toEqual(['Mail'])
})

test('with nothing typed the order stays', () => {
  expect(labels('', choice('Wait'), choice('Approval'))).toEqual(['Wait', 'Approval'])
})
