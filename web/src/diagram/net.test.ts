import { describe, expect, it } from 'vitest'
import { begin, comeIn, enabledSteps, fireStep, framesOf, withdrawn } from './net'

const definition = {
  penstock: 1,
  name: 'w',
  external: ['m1', 'm2', 'm3'],
  steps: {
    a: { task: 'x', fails: 'failed' },
    both: { task: 'y', after: ['a', { need: 2, of: ['m1', 'm2', 'm3'] }], emits: 'OK' },
    mail: { task: 'mail', after: 'failed', emits: 'FAIL' },
  },
}

describe('the rules of running', () => {
  it('R1 a step fires when every slot holds what it needs, and takes exactly that', () => {
    let { state } = begin(definition)
    expect(enabledSteps(definition, state)).toEqual(['a'])
    state = fireStep(definition, state, 'a', 'done').state
    state = comeIn(definition, state, 'm1').state
    state = comeIn(definition, state, 'm1').state
    expect(enabledSteps(definition, state)).toEqual([])
    state = comeIn(definition, state, 'm3').state
    expect(enabledSteps(definition, state)).toEqual(['both'])
    const fired = fireStep(definition, state, 'both', 'done')
    expect(fired.taken).toEqual(['a', 'm1', 'm3'])
    expect(fired.state.ok).toBe(true)
    expect(comeIn(definition, fired.state, 'm2').copies).toEqual([{ event: 'm2', steps: [] }])
  })

  it('R1 what a round did not take is owed as often as it was not taken, and kept where that is said', () => {
    const round = (rest?: 'keep') => {
      const two = { ...definition, external: ['m1', 'm2'].map((name) => ({ name, many: true })), steps: { first: { task: 'x', after: { need: 1, of: ['m1', 'm2'], ...(rest ? { rest } : {}) } } } }
      let { state } = begin(two)
      for (const event of ['m1', 'm1']) state = fireStep(two, comeIn(two, state, event).state, 'first', 'done').state
      return ['m2', 'm2', 'm2'].map((event) => {
        state = comeIn(two, state, event).state
        return enabledSteps(two, state)
      })
    }
    expect(round()).toEqual([[], [], ['first']])
    expect(round('keep')).toEqual([['first'], ['first'], ['first']])
  })

  it('an event from outside counts once, unless it may come again', () => {
    const again = { ...definition, external: [{ name: 'm1', many: true }, 'm2'], steps: { one: { task: 'x', after: 'm1' }, two: { task: 'x', after: 'm2' } } }
    const twice = (event: string) => comeIn(again, comeIn(again, begin(again).state, event).state, event).copies[0]?.steps
    expect([twice('m1'), twice('m2')]).toEqual([['one'], []])
  })

  it('R6 an early end withdraws what could fire, and lets clean up who waits for it', () => {
    const clean = { ...definition, steps: { a: { task: 'x' }, b: { task: 'x' }, c: { task: 'x', after: 'FAIL' } } }
    const { state } = begin(clean)
    const after = withdrawn(clean, state, fireStep(clean, state, 'a', 'failed').state)
    expect(enabledSteps(clean, after)).toEqual(['c'])
    expect(withdrawn(clean, after, fireStep(clean, after, 'c', 'done').state).ending).toBe('failed')
  })

  it('R7 a failure that nobody handles fires FAIL', () => {
    expect(fireStep(definition, begin(definition).state, 'a', 'failed').state.ending).toBeNull()
    const bare = { ...definition, steps: { a: { task: 'x' } } }
    expect(fireStep(bare, begin(bare).state, 'a', 'failed').state.ending).toBe('failed')
  })

  it('a trace is replayed from START to its end', () => {
    const frames = framesOf(definition, [{ fire: 'a', port: 'failed' }, { fire: 'mail', port: 'done' }])
    expect(frames.map((frame) => frame.kind)).toEqual(['event', 'fire', 'fire', 'end'])
    expect(frames.at(-1)?.state.ending).toBe('failed')
  })
})
