import { describe, expect, it } from 'vitest'
import { patched, readYaml, toYaml } from './yaml'

const TEXT = `# what it is for
penstock: 1
name: tea
steps:
  # first of all
  boil: {task: wait, with: {for: 2s}}  # not too long
  pour: {task: set, after: boil}
`
const read = (text: string) => {
  const found = readYaml(text)
  if ('misread' in found) throw new Error(found.misread.message)
  return found.definition
}

describe('text that people edit', () => {
  it('keeps its comments and its form when the drawing changes', () => {
    const before = read(TEXT)
    const after = { ...before, external: ['go'], steps: { ...before.steps, pour: { task: 'set', after: ['boil', 'go'] }, drink: { task: 'wait', after: 'pour' } } }
    const made = patched(TEXT, before, after)
    expect(made).toContain('# first of all')
    expect(made).toContain('boil: {task: wait, with: {for: 2s}} # not too long')
    expect(read(made)).toEqual(after)
    expect(made.indexOf('external')).toBeLessThan(made.indexOf('steps'))
  })

  it('loses what was removed, and nothing else', () => {
    const before = read(TEXT)
    const { pour: _gone, ...steps } = before.steps
    const made = patched(TEXT, before, { ...before, steps })
    expect(made).not.toContain('pour')
    expect(made).toContain('# what it is for')
  })

  it('says where it cannot be read', () => {
    expect(readYaml('penstock: 1\nsteps: {a: {task: x}')).toMatchObject({ misread: { line: expect.any(Number) } })
    expect(readYaml('just a word')).toHaveProperty('misread')
    expect(readYaml('steps: {a: 5}')).toHaveProperty('misread')
  })

  it('is written so that it reads the same', () => {
    const odd = { penstock: 1, name: 'w', steps: { 'a b': { task: 'x', with: { no: 'no', n: '012', t: 'true', text: 'two\nlines', e: '${ data.x }' } } } }
    expect(read(toYaml(odd))).toEqual(odd)
  })
})
