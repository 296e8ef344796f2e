import { expect, it } from 'vitest'
import { nameOf } from './views'

it('keeps views whose titles differ apart, and the same title as the same', () => {
  const views = [{ name: 'failed', title: 'Failed' }, { name: 'failed-2', title: 'Failed!' }]
  expect([nameOf('Failed', views), nameOf('Failed!', views), nameOf('Failed?', views), nameOf('!!!', views)]).toEqual(['failed', 'failed-2', 'failed-3', 'view'])
})
