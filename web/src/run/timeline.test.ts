import { expect, it } from 'vitest'
import { endOf } from './timeline'

const run = { started_at: '2026-11-17T10:00:00Z', ended_at: null }
const at = (text: string) => Date.parse(`2026-11-17T${text}Z`)

it('ends with the run, else now, and never before what has come by another clock', () => {
  const ends = [endOf({ ...run, ended_at: '2026-11-17T10:05:00Z' }, undefined, at('11:00:00')), endOf(run, '2026-11-17T10:01:00Z', at('10:02:00')), endOf(run, '2026-11-17T10:01:00Z', at('09:50:00')), endOf(run, undefined, at('09:50:00'))]

  expect(ends).toEqual([at('10:05:00'), at('10:02:00'), at('10:01:00'), at('10:00:01')])
})
