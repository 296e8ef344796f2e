import { expect, it } from 'vitest'
import { clockText, isCommon } from './clock'

it.each([
  ['30 2 * * *', undefined, 'Started each day at 02:30'],
  ['@daily', undefined, 'Started each day at 00:00'],
  ['0 9 * * 1', undefined, 'Started each Monday at 09:00'],
  ['0 9 * * 7', undefined, 'Started each Sunday at 09:00'],
  ['0 9 * * fri', undefined, 'Started each Friday at 09:00'],
  ['15 6 * * mon-fri', undefined, 'Started Monday to Friday at 06:15'],
  ['0 0 1 * *', undefined, 'Started on day 1 of each month at 00:00'],
  ['5 * * * *', undefined, 'Started each hour at :05'],
  ['*/15 * * * *', undefined, 'Started every 15 min'],
  [undefined, '5m', 'Started every 5 min'],
])('says %s %s in words', (cron, every, said) => {
  expect(clockText(cron, every)).toBe(said)
  expect(isCommon(cron, every)).toBe(true)
})

it.each(['*/5 9-17 * * mon', '*/7 * * * *', '0 0 1 1 *', '0 0 13 * 5', '@yearly', ''])('shows another clock, %s, as it is written', (cron) => {
  expect(clockText(cron, undefined)).toBe(`Started by the clock: ${cron}`)
  expect(isCommon(cron, undefined)).toBe(false)
})

it('says the same in a list of clocks', () => {
  expect(clockText('30 2 * * *', undefined, 'op.by')).toBe('Each day at 02:30')
})
