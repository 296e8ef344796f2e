import { describe, expect, it } from 'vitest'
import { partly, whence } from './why'

describe('what a run waited for at a moment', () => {
  it('is a step that had some of its events and lacked others', () => {
    const slots = [
      { step: 'join', need: 1, events: [{}] },
      { step: 'join', need: 1, events: [] },
      { step: 'later', need: 1, events: [] },
      { step: 'ready', need: 1, events: [{}] },
    ]
    expect(partly(slots)).toEqual(['join'])
  })

  it('counts what a slot needs', () => {
    expect(partly([{ step: 'some', need: 2, events: [{}] }])).toEqual(['some'])
    expect(partly([{ step: 'some', need: 2, events: [{}, {}] }])).toEqual([])
  })
})

describe('where an event that is missing can come from', () => {
  const title = (step: string) => step.toUpperCase()
  const up = { event: 'up', outside: false, steps: [] }

  it('is what the server says of it, also where it was from outside', () => {
    expect(whence({ ...up, outside: true }, false, title)).toBe('From outside')
    expect(whence({ ...up, came: true }, false, title)).toBe('Came from outside before, and counts once')
    expect(whence(up, false, title)).toBe('Nothing fires it')
  })

  it('names the step that fires it, and the event where it is one of several', () => {
    expect(whence({ ...up, steps: [{ step: 'k', status: 'running' }] }, false, title)).toBe('From “K”, which is running')
    expect(whence({ ...up, came: true }, true, title)).toBe('“up” came from outside before, and counts once')
  })
})
