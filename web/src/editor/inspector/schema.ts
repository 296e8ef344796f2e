/** From a JSON Schema to the fields of a form. What a form cannot show is a field of JSON. */
import { notJson } from '@/ui/json-slip'

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }
export interface Schema {
  type?: string | string[]
  title?: string
  description?: string
  default?: unknown
  examples?: unknown[]
  enum?: unknown[]
  const?: unknown
  format?: string
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema | boolean
  additionalProperties?: Schema | boolean
  oneOf?: Schema[]
  anyOf?: Schema[]
  allOf?: Schema[]
  $ref?: string
  $defs?: Record<string, Schema>
  minimum?: number
  maximum?: number
  exclusiveMinimum?: number
  maxLength?: number
  [key: string]: unknown
}

export type Kind = 'text' | 'texts' | 'time' | 'long' | 'number' | 'boolean' | 'enum' | 'list' | 'object' | 'map' | 'choice' | 'shape' | 'cel' | 'json'

export interface FormField {
  name: string
  label: string
  hint?: string
  required: boolean
  schema: Schema
  kind: Kind
}

/** A schema with its reference followed, within the document that it is in. */
export function resolved(schema: Schema | boolean | undefined, root: Schema, left = 8): Schema {
  if (schema === undefined || typeof schema === 'boolean') return {}
  if (schema.$ref && left > 0) {
    const found = /^#\/\$defs\/(.+)$/.exec(schema.$ref)?.[1]
    const { $ref: _ref, ...rest } = schema
    return found && root.$defs?.[found] ? resolved({ ...root.$defs[found], ...rest }, root, left - 1) : {}
  }
  return schema
}

const typesOf = (schema: Schema): string[] => (Array.isArray(schema.type) ? schema.type : schema.type ? [schema.type] : [])

/** `null` beside one other shape says only that the field may be left out. */
function withoutNull(schema: Schema, root: Schema): Schema {
  const ways = schema.anyOf ?? schema.oneOf
  if (!ways) return schema
  const real = ways.map((way) => resolved(way, root)).filter((way) => way.type !== 'null')
  const { anyOf: _any, oneOf: _one, ...rest } = schema
  return real.length === 1 ? { ...rest, ...(real[0] as Schema) } : { ...rest, oneOf: real }
}

export function shapeOf(schema: Schema | boolean | undefined, root: Schema): Schema {
  return withoutNull(resolved(schema, root), root)
}

/** One text, or several: people write both into one line. */
const choiceOf = (ways: Schema[]): Kind => (ways.length === 2 && ways.some((way) => way.type === 'string' && !way.format) && ways.some((way) => way.type === 'array' && typeof way.items === 'object' && way.items.type === 'string') ? 'texts' : 'choice')

/** Several texts as one line, and back: one stays a text, what holds expressions is not taken apart. */
export const textsLine = (value: unknown): string => (Array.isArray(value) ? value.map(String).join(', ') : value === undefined || value === null ? '' : String(value))
export function lineTexts(line: string): string | string[] | undefined {
  const text = line.trim()
  if (!text) return undefined
  const whole: boolean = isExpression(text)
  const parts = whole ? [text] : text.split(',').map((part) => part.trim()).filter(Boolean)
  return parts.length > 1 ? parts : (parts[0] ?? undefined)
}

export function kindOf(schema: Schema): Kind {
  if (schema.enum || schema.const !== undefined) return 'enum'
  if (schema.format === 'duration' || schema.format === 'moment') return 'time'
  if (schema.format === 'json-schema') return 'shape'
  if (schema.format === 'cel') return 'cel'
  if (schema.oneOf) return choiceOf(schema.oneOf)
  const types = typesOf(schema).filter((type) => type !== 'null')
  if (types.length !== 1) return 'json'
  switch (types[0]) {
    case 'string':
      return schema.format === 'multiline' || schema.format === 'textarea' || (schema.maxLength ?? 0) > 1000 ? 'long' : 'text'
    case 'number':
    case 'integer':
      return 'number'
    case 'boolean':
      return 'boolean'
    case 'array':
      return schema.items && typeof schema.items === 'object' ? 'list' : 'json'
    case 'object':
      if (schema.properties && Object.keys(schema.properties).length > 0) return 'object'
      return schema.additionalProperties && typeof schema.additionalProperties === 'object' ? 'map' : 'json'
    default:
      return 'json'
  }
}

/** "et_output_key" as a label: "Et output key". */
export const spoken = (name: string): string => {
  const words = name.replace(/[_-]+/g, ' ').replace(/([a-z])([A-Z])/g, '$1 $2').trim()
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** The fields of an object: those that its schema names, needed ones first, then those that are there besides. */
export function fieldsOf(schema: Schema | undefined, value: Record<string, unknown> | undefined, root: Schema = schema ?? {}): FormField[] {
  const shape = shapeOf(schema, root)
  const required = new Set(shape.required ?? [])
  const named = Object.entries(shape.properties ?? {}).map(([name, each]): FormField => {
    const own = shapeOf(each, root)
    return { name, label: own.title ?? spoken(name), hint: own.description, required: required.has(name), schema: own, kind: kindOf(own) }
  })
  const more = shape.additionalProperties && typeof shape.additionalProperties === 'object' ? shapeOf(shape.additionalProperties, root) : {}
  const others = Object.keys(value ?? {})
    .filter((name) => !shape.properties?.[name])
    .map((name): FormField => ({ name, label: spoken(name), required: false, schema: more, kind: kindOf(more) === 'json' ? guessed(value?.[name]) : kindOf(more) }))
  return [...named.filter((field) => field.required), ...named.filter((field) => !field.required), ...others]
}

/** Whether an object may have fields that its schema does not name. */
export const isOpen = (schema: Schema | undefined): boolean => schema === undefined || schema.additionalProperties !== false

function guessed(value: unknown): Kind {
  if (typeof value === 'string') return 'text'
  if (typeof value === 'number') return 'number'
  return typeof value === 'boolean' ? 'boolean' : 'json'
}

/** Which of several shapes a value has: the first whose type and needed keys fit. */
export function wayOf(ways: Schema[], value: unknown): number {
  const fits = (way: Schema): boolean => {
    if (way.const !== undefined) return way.const === value
    if (way.enum) return way.enum.includes(value)
    const types = typesOf(way)
    if (types.length > 0 && !types.some((type) => isOfType(value, type))) return false
    if (value === null || typeof value !== 'object' || Array.isArray(value)) return true
    const keys = Object.entries(way.properties ?? {})
    if ((way.required ?? []).some((key) => !(key in value))) return false
    return keys.every(([key, each]) => each.const === undefined || (value as Record<string, unknown>)[key] === each.const)
  }
  return Math.max(0, ways.findIndex(fits))
}

function isOfType(value: unknown, type: string): boolean {
  switch (type) {
    case 'null':
      return value === null
    case 'array':
      return Array.isArray(value)
    case 'object':
      return value !== null && typeof value === 'object' && !Array.isArray(value)
    case 'integer':
      return Number.isInteger(value)
    default:
      return typeof value === type
  }
}

/** A first value of a shape, for a new entry. */
export function firstValue(schema: Schema): unknown {
  if (schema.default !== undefined) return schema.default
  if (schema.const !== undefined) return schema.const
  if (schema.enum) return schema.enum[0]
  switch (kindOf(schema)) {
    case 'text':
    case 'texts':
    case 'time':
    case 'long':
    case 'cel':
      return ''
    case 'number':
      return schema.minimum ?? 0
    case 'boolean':
      return false
    case 'list':
      return []
    case 'object':
      return Object.fromEntries((schema.required ?? []).map((key) => [key, firstValue(schema.properties?.[key] ?? {})]))
    case 'map':
      return {}
    case 'choice':
      return firstValue(schema.oneOf?.[0] ?? {})
    default:
      return null
  }
}

/** What a run could be started with: an example, or something of the right shape. */
export function sampleOf(schema: Schema | undefined): unknown {
  if (!schema) return {}
  if (schema.examples?.length) return schema.examples[0]
  if (kindOf(schema) !== 'object') return {}
  return Object.fromEntries(Object.entries(schema.properties ?? {}).map(([key, each]) => [key, each.examples?.[0] ?? (kindOf(each) === 'text' && each.default === undefined ? key : firstValue(each))]))
}

// -- expressions inside values -------------------------------------------------------------------------------

export type Piece = { kind: 'text' | 'expression'; text: string }

export const isExpression = (value: unknown): value is string => typeof value === 'string' && pieces(value).some((piece) => piece.kind === 'expression')

/** A text taken apart into what is written and what is worked out: `Your video ${ run.subject } failed`. */
export function pieces(text: string): Piece[] {
  const found: Piece[] = []
  let plain = ''
  let at = 0
  while (at < text.length) {
    if (text.startsWith('$${', at)) {
      plain += '${'
      at += 3
      continue
    }
    const end = text.startsWith('${', at) ? closing(text, at + 2) : -1
    if (end < 0) {
      plain += text[at++]
      continue
    }
    if (plain) found.push({ kind: 'text', text: plain })
    plain = ''
    found.push({ kind: 'expression', text: text.slice(at + 2, end).trim() })
    at = end + 1
  }
  return plain ? [...found, { kind: 'text', text: plain }] : found
}

/** Where the brace is that ends an expression: not one in a text or a map of its own. */
function closing(text: string, from: number): number {
  let depth = 0
  let quote = ''
  for (let at = from; at < text.length; at++) {
    const letter = text[at] as string
    if (quote) {
      if (letter === '\\') at++
      else if (letter === quote) quote = ''
    } else if (letter === '"' || letter === "'") quote = letter
    else if (letter === '{') depth++
    else if (letter === '}' && depth-- === 0) return at
  }
  return -1
}

/** What somebody typed into a field of JSON, or why it is none. */
export function readJson(text: string): { value: unknown } | { error: string } {
  if (!text.trim()) return { value: undefined }
  try {
    return { value: JSON.parse(text) as unknown }
  } catch {
    return { error: notJson(text) }
  }
}

/** A number that was typed: itself, nothing, or text that is kept as it is (an expression, a slip). */
export function typedNumber(typed: string): unknown {
  const text = typed.trim()
  if (text === '') return undefined
  return Number.isFinite(Number(text)) ? Number(text) : typed
}
