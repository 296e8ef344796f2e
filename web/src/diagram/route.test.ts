import { expect, it } from 'vitest'
import type { Definition } from './definition'
import { graphOf } from './graph'
import type { Places } from './place'
import { type Route, routesOf } from './route'

const ASKED: Definition = {
  penstock: 1,
  name: 'w',
  steps: {
    ask: { task: 'approval', emits: { approved: 'named', rejected: 'not_named' }, fails: 'not_named' },
    tell: { task: 'mail', after: 'named | not_named' },
  },
}
const OFFERS = { approval: { name: 'approval', ports: ['approved', 'rejected', 'failed'] } } as unknown as Parameters<typeof graphOf>[1]
const PLACES: Places = new Map([
  ['@START', [0, 0]],
  ['ask', [80, 0]],
  ['tell', [380, 0]],
])

const pillsOf = (routes: Route[]) => routes.flatMap(({ wire, pill, room }) => (pill && wire.pill ? [{ name: wire.pill, at: pill, width: room ?? Math.min(150, wire.pill.length * 5.9 + 26) }] : []))

it('says once what one step fires on several ports', () => {
  const pills = pillsOf(routesOf(graphOf(ASKED, OFFERS), PLACES))
  expect(pills.map(({ name }) => name).sort()).toEqual(['named', 'not_named'])
})

it('lays no pill upon another, however near the boxes stand', () => {
  for (const gap of [40, 90, 150, 300]) {
    const pills = pillsOf(routesOf(graphOf({ ...ASKED, steps: { ...ASKED.steps, late: { task: 'mail', fails: 'not_named', after: 'named' } } }, OFFERS), new Map([...PLACES, ['tell', [224 + gap, 0]], ['late', [80, 90]]])))
    for (const [index, one] of pills.entries()) {
      for (const two of pills.slice(index + 1)) expect(Math.abs(one.at[1] - two.at[1]) >= 16 || Math.abs(one.at[0] - two.at[0]) >= (one.width + two.width) / 2 - 8, `${one.name} and ${two.name} at ${gap}`).toBe(true)
    }
  }
})
