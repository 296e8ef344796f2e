import { describe, expect, it } from 'vitest'
import type { Definition } from './definition'
import { graphOf } from './graph'
import { planOf, remember, remembered } from './laid'

const drawn = (one: string, two: string, event: string): Definition => ({ penstock: 1, name: 'w', steps: { [one]: { task: 'x', emits: event }, [two]: { task: 'y', after: event } } })

describe('a drawing that was laid out before', () => {
  it('stands where it stood, whatever its steps and events are called', () => {
    const graph = graphOf(drawn('copy', 'mail', 'copied'))
    remember(graph, new Map(graph.boxes.map((box, at) => [box.id, [at * 100, at * 10]])))
    const renamed = graphOf(drawn('Copy it', 'Tell', 'a video was copied to where it is served'))
    expect(planOf(renamed)).toBe(planOf(graph))
    expect([...(remembered(renamed)?.values() ?? [])]).toEqual([...(remembered(graph)?.values() ?? [])])
    expect(remembered(renamed)?.get('Copy it')).toEqual(remembered(graph)?.get('copy'))
  })

  it('is another one with another wire or another box', () => {
    const graph = graphOf(drawn('copy', 'mail', 'copied'))
    const wired = graphOf({ ...drawn('copy', 'mail', 'copied'), steps: { ...drawn('copy', 'mail', 'copied').steps, mail: { task: 'y', after: ['copied', 'START'] } } })
    const more = graphOf({ ...drawn('copy', 'mail', 'copied'), steps: { ...drawn('copy', 'mail', 'copied').steps, last: { task: 'z', after: 'mail' } } })
    expect(new Set([graph, wired, more].map(planOf)).size).toBe(3)
    expect(remembered(more)).toBeNull()
  })
})
