import { expect, it } from 'vitest'
import { clockText } from './clock'

it('says common clocks in words', () => {
  expect(clockText('30 2 * * *', undefined)).toBe('Started each day at 02:30')
  expect(clockText('0 9 * * 1', undefined)).toBe('Started each Monday at 09:00')
  expect(clockText('0 9 * * 7', undefined)).toBe('Started each Sunday at 09:00')
  expect(clockText(undefined, '5m')).toBe('Started every 5m')
})

it('shows other clocks as they are written', () => {
  expect(clockText('*/5 9-17 * * mon', undefined)).toBe('Started by the clock: */5 9-17 * * mon')
})
