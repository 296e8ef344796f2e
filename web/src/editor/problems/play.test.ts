import { describe, expect, it } from 'vitest'
import type { Definition } from '@/diagram/definition'
import { goodRun } from './play'

describe('a run that succeeds', () => {
  it('goes through every step, with the outside event when nothing else can go on', () => {
    const definition: Definition = { penstock: 1, name: 'm', external: ['finished'], steps: { a: { task: 'x', emits: 'made' }, b: { task: 'y', after: ['made', 'finished'], emits: 'OK', fails: 'broken' }, c: { task: 'z', after: 'broken', emits: 'FAIL' } } }
    expect(goodRun(definition)).toEqual([{ fire: 'a', port: 'done' }, { event: 'finished' }, { fire: 'b', port: 'done' }])
  })

  it('ends where a loop has no end', () => {
    const definition: Definition = { penstock: 1, name: 'm', steps: { a: { task: 'x', after: 'START | b' }, b: { task: 'x', after: 'a' } } }
    expect(goodRun(definition).length).toBeLessThan(20)
  })
})
