/** What a box is called: by its title, else by the name of its step. No two boxes are called the same. */
import { type Definition, isReserved, titleOf } from '@/diagram/definition'
import { whyNotName } from './document'

/** What another title comes to: the step has a new name, only its title changes, or it cannot be. */
export type Retitling = { kind: 'same' | 'name' | 'title' } | { kind: 'refused'; why: 'reserved' | 'taken' }

/** A step without a title has its name on the box, so that is changed where it can be; else the title is. */
export function retitling(definition: Definition, id: string, wish: string): Retitling {
  const title = wish.trim()
  const step = definition.steps[id]
  if (!step || !title || title === titleOf(id, step)) return { kind: 'same' }
  if (isReserved(title)) return { kind: 'refused', why: 'reserved' }
  if (Object.entries(definition.steps).some(([name, other]) => name !== id && (name === title || titleOf(name, other) === title))) return { kind: 'refused', why: 'taken' }
  return { kind: step.title === undefined && whyNotName(title, definition, id) === null ? 'name' : 'title' }
}
