/** The sentences of the checks, known by their shape: `sentences.json` has each as the server says it, the catalogue as the reader does. */
import shapes from './sentences.json'

export type Shape = keyof typeof shapes

export interface Known {
  shape: Shape
  values: Record<string, string>
}

const NAMES = "'[^']+'(?:(?:, | and | or )'[^']+')*"
const PARTS: Record<string, string> = { names: NAMES, others: NAMES, n: '\\d+', text: '.+', where: '[^`]+', time: '[^`()]+', limit: '[^`()]+' }
const MEANT = / ?Did you mean ['`]([^'`]+)['`]\?$/

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

function patternOf(shape: string): RegExp {
  const seen = new Set<string>()
  const parts = shape.split(/\{(\w+)\}/).map((part, at) => {
    if (at % 2 === 0) return escaped(part)
    if (seen.has(part)) return `\\k<${part}>`
    seen.add(part)
    return `(?<${part}>${PARTS[part] ?? "[^'`]+"})`
  })
  return new RegExp(`^${parts.join('')}$`, 's')
}

const patterns = new Map<Shape, RegExp>()

function fits(shape: Shape, text: string): Known | null {
  const pattern = patterns.get(shape) ?? patternOf(shapes[shape])
  patterns.set(shape, pattern)
  const found = pattern.exec(text)
  return found ? { shape, values: { ...found.groups } } : null
}

/** What a sentence about `code` says; null where its shape is not known. */
export function known(code: string, text: string, hint = false): Known | null {
  for (const shape of Object.keys(shapes) as Shape[]) {
    const found = shape.startsWith(`${code}.`) && shape.endsWith('.hint') === hint ? fits(shape, text) : null
    if (found) return found
  }
  return null
}

/** A hint, and the name that the server proposes at its end. */
export function apart(hint: string): { hint: string; meant: string | undefined } {
  return { hint: hint.replace(MEANT, ''), meant: MEANT.exec(hint)?.[1] }
}
