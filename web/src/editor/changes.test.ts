import { describe, expect, it } from 'vitest'
import { difference, replay } from './changes'
import { addStep, copySteps, fire, paste, readClip, removeCase, removeSteps, renameCase, renameEvent, renameStep, setMode, waitFor, waitNoMore, whyNotEvent } from './document'

const START = {
  penstock: 1,
  name: 'w',
  external: ['go'],
  steps: { a: { task: 'x', emits: 'made' }, b: { task: 'y', after: ['made', 'a'] }, c: { task: 'z', after: 'b' } },
  view: { positions: { a: [1, 2] as [number, number] } },
}

describe('undo', () => {
  it('gives back what was there, keys in their order', () => {
    const after = removeSteps(['a'])(addStep('d', { task: 'q' }, [5, 6])(START))
    const entry = difference('x', START, after)
    expect(JSON.stringify(replay(after, entry, true))).toBe(JSON.stringify(START))
    expect(JSON.stringify(replay(START, entry, false))).toBe(JSON.stringify(after))
  })
})

describe('edits', () => {
  it('rename an event everywhere and say in how many places', () => {
    const { definition, places } = renameEvent(START, 'made', 'ready')
    expect(places).toBe(2)
    expect(definition.steps.a?.emits).toBe('ready')
    expect(definition.steps.b?.after).toEqual(['ready', 'a'])
  })

  it('rename a step also where others wait for it by name', () => {
    const made = renameStep(START, 'a', 'first')
    expect(made.steps.b?.after).toEqual(['made', 'first'])
    expect(made.view?.positions).toEqual({ first: [1, 2] })
    expect(Object.keys(made.steps)).toEqual(['first', 'b', 'c'])
  })

  it('rename in expressions too, and nowhere else', () => {
    const said = { ...START, result: 'steps.a.output', steps: { ...START.steps, d: { task: 'q', after: ['go', 'a'], title: 'events.go', with: { if: 'events.go.x > 1 && events["go"].y', text: 'events.go is ${ events.go.n } or ${ steps["a"].output }', other: '${ events.gone }' } } } }
    const event = renameEvent(said, 'go', 'go on')
    expect(event.places).toBe(5)
    expect(event.definition.steps.d).toMatchObject({ after: ['go on', 'a'], title: 'events.go', with: { if: 'events["go on"].x > 1 && events["go on"].y', text: 'events.go is ${ events["go on"].n } or ${ steps["a"].output }', other: '${ events.gone }' } })
    const step = renameStep(said, 'a', 'first')
    expect(step.result).toBe('steps.first.output')
    expect(step.steps.d).toMatchObject({ after: ['go', 'first'], with: { text: 'events.go is ${ events.go.n } or ${ steps["first"].output }' } })
  })

  it('rename a step also where a port that only its worker knows is waited for', () => {
    const ported = { ...START, steps: { a: { task: 'x' }, 'a.b': { task: 'y', after: 'a.maybe' }, c: { task: 'z', after: ['a.b.done', 'a.b'] } } }
    const made = renameStep(ported, 'a', 'first')
    expect(made.steps['a.b']?.after).toBe('first.maybe')
    expect(made.steps.c?.after).toEqual(['a.b.done', 'a.b'])
  })

  it('give an event no name that is reserved, a step’s, or another event’s', () => {
    expect(['OK', 'a', 'a.done', 'made', 'x|y', ' ', 'go', 'new'].map((name) => whyNotEvent(name, START, 'go'))).toEqual(['reserved', 'step', 'step', 'taken', 'letters', 'empty', null, null])
    expect(['made', 'go'].map((name) => whyNotEvent(name, START))).toEqual([null, 'taken'])
  })

  it('rename a case of a switch with its port and who waits for it', () => {
    const decided = { ...START, steps: { s: { task: 'switch', with: { cases: { big: 'true', small: 'false' } }, emits: { big: 'large' } }, t: { task: 'x', after: 's.big' } } }
    const made = renameCase('s', 'big', 'huge')(decided)
    expect(made.steps.s).toEqual({ task: 'switch', with: { cases: { huge: 'true', small: 'false' } }, emits: { huge: 'large' } })
    expect(made.steps.t?.after).toBe('s.huge')
    expect(renameCase('s', 'big', 'small')(decided)).toBe(decided)
  })

  it('take a case away from a switch with what its port fired', () => {
    const decided = { ...START, steps: { s: { task: 'switch', with: { cases: { big: 'true', small: 'false' } }, emits: { big: 'large', else: 'rest' } } } }
    expect(removeCase('s', 'big')(decided).steps.s).toEqual({ task: 'switch', with: { cases: { small: 'false' } }, emits: { else: 'rest' } })
    expect(removeCase('s', 'none')(decided)).toBe(decided)
  })

  it('wait for one more event: with the others, or instead', () => {
    expect(waitFor('c', 'go')(START).steps.c?.after).toEqual(['b', 'go'])
    expect(waitFor('c', 'go', { slot: 0 })(START).steps.c?.after).toBe('b | go')
    expect(waitFor('a', 'go')(START).steps.a?.after).toBe('go')
    expect(waitNoMore('b', 'a')(START).steps.b?.after).toBe('made')
    const either = { ...START, steps: { ...START.steps, c: { task: 'z', after: 'a | b' } } }
    expect(waitFor('c', 'go')(either).steps.c?.after).toEqual(['a | b', 'go'])
    expect(waitFor('c', 'go', { slot: 0 })(either).steps.c?.after).toBe('a | b | go')
    expect(setMode('b', 'some', 1)(START).steps.b?.after).toEqual({ need: 1, of: ['made', 'a'] })
  })

  it('need a whole number of events, of those that there are', () => {
    const needed = (need: number) => setMode('b', 'some', need)(START).steps.b?.after
    expect([1.5, 9, 0, -1].map(needed)).toEqual([1, 2, 1, 1].map((need) => ({ need, of: ['made', 'a'] })))
  })

  it('fire an event on a port', () => {
    expect(fire('a', 'failed', 'broken')(START).steps.a).toEqual({ task: 'x', emits: 'made', fails: 'broken' })
    expect(fire('a', 'done', 'more')(START).steps.a?.emits).toEqual(['made', 'more'])
  })

  it('paste what was copied under new names, wired to each other as before', () => {
    const clip = readClip(JSON.stringify(copySteps(START, ['b', 'c'], new Map([['b', [0, 0]]]))))
    const made = paste(START, clip!, [16, 16])
    expect(made.names).toEqual(['b 2', 'c 2'])
    expect(made.definition.steps['c 2']?.after).toBe('b 2')
    expect(made.definition.view?.positions?.['b 2']).toEqual([16, 16])
    expect(readClip('hello')).toBeNull()
  })

  it('paste also the notes, groups and events from outside that go with steps', () => {
    const full = { ...START, external: [{ name: 'go', many: true }, 'other'], steps: { ...START.steps, d: { task: 'q', after: 'go' } }, view: { positions: {}, notes: { n: { text: 'why', at: [1, 1] as [number, number] } }, groups: { g: { title: 'both', steps: ['c', 'd'] }, h: { title: 'half', steps: ['a', 'd'] } } } }
    const clip = readClip(JSON.stringify(copySteps(full, ['c', 'd'], new Map(), ['note:n'])))
    const made = paste({ penstock: 1, name: 'new', steps: { d: { task: 'z' } } }, clip!, [16, 16]).definition
    expect(made.external).toEqual([{ name: 'go', many: true }])
    expect(made.view?.notes).toEqual({ n: { text: 'why', at: [17, 17] } })
    expect(made.view?.groups).toEqual({ g: { title: 'both', steps: ['c', 'd 2'] } })
    expect(paste(full, clip!, [0, 0]).definition.view?.groups).toMatchObject({ g: { steps: ['c', 'd'] }, 'g-2': { steps: ['c 2', 'd 2'] } })
    expect(removeSteps(['c', 'd'])(full).view?.groups).toEqual({ h: { title: 'half', steps: ['a'] } })
  })

  it('keep what becomes of events that come later', () => {
    const some = { ...START, steps: { ...START.steps, d: { task: 'q', after: { need: 2, of: ['a', 'b', 'c'], rest: 'keep' as const } } } }
    expect(setMode('d', 'some', 1)(some).steps.d?.after).toEqual({ need: 1, of: ['a', 'b', 'c'], rest: 'keep' })
    expect(waitFor('d', 'go', { slot: 0 })(some).steps.d?.after).toEqual({ need: 2, of: ['a', 'b', 'c', 'go'], rest: 'keep' })
    expect(waitNoMore('d', 'c')(some).steps.d?.after).toEqual({ need: 2, of: ['a', 'b'], rest: 'keep' })
    expect(renameEvent(some, 'c', 'e').definition.steps.d?.after).toEqual({ need: 2, of: ['a', 'b', 'e'], rest: 'keep' })
  })
})
