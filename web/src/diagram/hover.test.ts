import { describe, expect, it } from 'vitest'
import { graphOf } from './graph'
import { touched } from './hover'

const graph = graphOf({ penstock: 1, name: 'w', external: ['go'], steps: { a: { task: 'x', after: 'go', emits: 'made' }, b: { task: 'y', after: ['made', 'a'], emits: 'OK' } } })
const linked = (event: string) => graph.boxes.filter((box) => touched(box).has(event)).map((box) => box.id)

describe('an event under the pointer', () => {
  it('links who fires it and who waits for it', () => {
    expect(linked('made')).toEqual(['a', 'b'])
    expect(linked('go').sort()).toEqual(['@outside', 'a'])
  })

  it('links by the own name of a step and at the ends too', () => {
    expect(linked('a')).toEqual(['a', 'b'])
    expect(linked('OK').sort()).toEqual(['@OK', 'b'])
  })
})
