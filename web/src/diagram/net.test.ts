import { describe, expect, it } from 'vitest'
import { begin, comeIn, enabledSteps, fireStep, framesOf } from './net'

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
