import { describe, expect, it } from 'vitest'
import type { Definition } from '@/diagram/definition'
import { retitling } from './titles'

const drawn: Definition = { penstock: 1, name: 'w', steps: { Decide: { task: 'decide' }, mail: { task: 'mail', title: 'Tell the owner' }, copy: { task: 'copy' } } }

describe('another title for a box', () => {
  it('is the name of the step where it has no title', () => {
    expect(retitling(drawn, 'copy', 'Copy the video')).toEqual({ kind: 'name' })
  })

  it('is a title alone where the step has one, or where no name can be that', () => {
    expect(retitling(drawn, 'mail', 'Tell everybody')).toEqual({ kind: 'title' })
    expect(retitling(drawn, 'copy', 'Whose faces are these?')).toEqual({ kind: 'title' })
  })

  it('is refused where another box is called that, by its name or by its title', () => {
    expect(retitling(drawn, 'mail', 'Decide')).toEqual({ kind: 'refused', why: 'taken' })
    expect(retitling(drawn, 'copy', ' Tell the owner ')).toEqual({ kind: 'refused', why: 'taken' })
  })

  it('is refused where it is a reserved event', () => {
    expect(retitling(drawn, 'mail', 'START')).toEqual({ kind: 'refused', why: 'reserved' })
  })

  it('changes nothing where it is empty or what it was', () => {
    expect(retitling(drawn, 'mail', 'Tell the owner')).toEqual({ kind: 'same' })
    expect(retitling(drawn, 'copy', '  ')).toEqual({ kind: 'same' })
  })
})
