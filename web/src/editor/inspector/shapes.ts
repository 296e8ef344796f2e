/** A JSON Schema of an object as a list of fields, and back. */
import type { Schema } from './schema'

export const TYPES = ['string', 'integer', 'number', 'boolean', 'array', 'object'] as const

/** Whether a schema is no more than fields. */
export const isSimple = (schema: Schema | undefined): boolean => schema === undefined || (typeof schema === 'object' && schema !== null && (schema.type === undefined || schema.type === 'object') && !schema.oneOf && !schema.anyOf && !schema.$ref)

/** A field with another type; a list is one of texts, so that its lines can be filled in. */
export function ofType(field: Schema, type: string): Schema {
  const { items, ...rest } = field
  return type === 'array' ? { ...rest, type, items: items ?? { type: 'string' } } : { ...rest, type }
}

/** A schema with these fields; without any it is none. */
export function putFields(schema: Schema | undefined, fields: Record<string, Schema>, needed: string[]): Schema | undefined {
  if (Object.keys(fields).length === 0 && !schema?.examples) return undefined
  const { required: _old, ...rest } = schema ?? {}
  const names = needed.filter((name) => name in fields)
  return { ...rest, type: 'object', ...(names.length > 0 ? { required: names } : {}), properties: fields }
}
