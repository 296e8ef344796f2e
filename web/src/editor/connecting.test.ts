import { describe, expect, it } from 'vitest'
import { type Definition, graphOf } from '@/diagram'
import { type How, cutWire, insertInto, join, joinEdit } from './connecting'

const definition: Definition = {
  penstock: 1,
  name: 'w',
  external: ['go'],
  steps: { a: { task: 'x', emits: 'made' }, b: { task: 'y' }, mail: { task: 'mail', after: 'go', emits: 'OK' } },
}

const wired = (from: [string, string], to: [string, string], how: How = 'all', start = definition) => {
  const joining = join(start, graphOf(start), { box: from[0], port: from[1] }, { box: to[0], port: to[1] })
  return joining.kind === 'refused' ? joining.why.key : joinEdit(joining, how, { box: from[0], port: from[1] })(start)
}
const steps = (made: Definition | string) => (typeof made === 'string' ? made : made.steps)

describe('a wire', () => {
  it('lets a step wait for the event that the port fires', () => {
    expect(steps(wired(['a', 'out:done'], ['b', 'in']))).toMatchObject({ b: { after: 'made' } })
    expect(steps(wired(['b', 'out:done'], ['a', 'in']))).toMatchObject({ a: { after: 'b' } })
    expect(steps(wired(['@outside', 'out:go'], ['a', 'in0']))).toMatchObject({ a: { after: 'go' } })
  })

  it('asks how where the step waits already', () => {
    expect(steps(wired(['a', 'out:done'], ['mail', 'in']))).toMatchObject({ mail: { after: ['go', 'made'] } })
    expect(steps(wired(['a', 'out:done'], ['mail', 'in'], { slot: 0 }))).toMatchObject({ mail: { after: 'go | made' } })
  })

  it('takes the place of the one of several that it was drawn to, and of no other', () => {
    const two = { ...definition, steps: { ...definition.steps, mail: { task: 'mail', after: ['go', 'b'] } } }
    const asked = (port: string) => {
      const joining = join(two, graphOf(two), { box: 'a', port: 'out:done' }, { box: 'mail', port })
      return joining.kind === 'waits' ? joining.others.map((each) => each.at) : joining.kind
    }
    expect([asked('in'), asked('in0'), asked('in1')]).toEqual([[0, 1], [0], [1]])
    expect(steps(wired(['a', 'out:done'], ['mail', 'in1'], { slot: 1 }, two))).toMatchObject({ mail: { after: ['go', 'b | made'] } })
    expect(steps(wired(['a', 'out:done'], ['mail', 'in'], 'all', two))).toMatchObject({ mail: { after: ['go', 'b', 'made'] } })
  })

  it('is one more of several of which some are needed, or comes to them', () => {
    const some = { ...definition, steps: { ...definition.steps, mail: { task: 'mail', after: { need: 1, of: ['go', 'b'] } } } }
    expect(steps(wired(['a', 'out:done'], ['mail', 'in'], { slot: 0 }, some))).toMatchObject({ mail: { after: { need: 1, of: ['go', 'b', 'made'] } } })
    expect(steps(wired(['a', 'out:done'], ['mail', 'in'], 'all', some))).toMatchObject({ mail: { after: [{ need: 1, of: ['go', 'b'] }, 'made'] } })
  })

  it('of failures goes together with those of others', () => {
    const one = wired(['a', 'out:failed'], ['b', 'in']) as Definition
    expect(one.steps).toMatchObject({ a: { fails: 'failed' }, b: { after: 'failed' } })
    const two = wired(['mail', 'out:failed'], ['b', 'in'], 'all', one) as Definition
    expect(two.steps).toMatchObject({ mail: { fails: 'failed' }, b: { after: 'failed' } })
    const three = wired(['mail', 'out:failed'], ['a', 'in'], 'all', one) as Definition
    expect(three.steps.a?.after).toBe('mail.failed')
  })

  it('to an end lets the step fire it', () => {
    expect(steps(wired(['a', 'out:done'], ['@OK', 'in0']))).toMatchObject({ a: { emits: ['made', 'OK'] } })
  })

  it('that cannot be says why', () => {
    expect(wired(['@OK', 'out:done'], ['a', 'in0'])).toBe('refuse.ok')
    expect(wired(['@outside', 'out:go'], ['@OK', 'in0'])).toBe('refuse.onlySteps')
    expect(wired(['@outside', 'out:go'], ['mail', 'in0'])).toBe('refuse.already')
    expect(wired(['a', 'out:done'], ['@START', 'in0'])).toBe('refuse.start')
    expect(wired(['@START', 'out:done'], ['a', 'in0'])).toBe('refuse.already')
  })

  it('is cut by waiting no more', () => {
    const made = wired(['a', 'out:done'], ['b', 'in']) as Definition
    const graph = graphOf(made)
    const wire = graph.wires.find((each) => each.event === 'made')
    expect(cutWire(graph, wire!.id)(made).steps.b).toEqual({ task: 'y' })
  })

  it('takes a box in', () => {
    const made = wired(['a', 'out:done'], ['b', 'in']) as Definition
    const graph = graphOf(made)
    const wire = graph.wires.find((each) => each.event === 'made')
    const after = insertInto(graph, wire!.id, 'new')({ ...made, steps: { ...made.steps, new: { task: 'n' } } })
    expect(after.steps).toMatchObject({ new: { after: 'made' }, b: { after: 'new' } })
  })

  it('takes a box in that goes on by another port than done', () => {
    const made = wired(['a', 'out:done'], ['b', 'in']) as Definition
    const graph = graphOf(made)
    const inserted = (task: string, event: string, offers = {}) => insertInto(graph, graph.wires.find((each) => each.event === event)!.id, 'new', offers)({ ...made, steps: { ...made.steps, new: { task, ...(task === 'switch' ? { with: { cases: { first: 'true' } } } : {}) } } }).steps
    expect(inserted('decide', 'made').b?.after).toBe('new.then')
    expect(inserted('approval', 'made').b?.after).toBe('new.approved')
    expect(inserted('switch', 'made').b?.after).toBe('new.first')
    expect(inserted('own', 'made', { own: { name: 'own', title: '', doc: '', kind: '', ports: ['yes', 'no', 'failed'] } }).b?.after).toBe('new.yes')
    expect(inserted('decide', 'OK').new).toMatchObject({ emits: { then: 'OK' } })
  })
})
