/** Definitions as YAML text that people edit: comments stay where the text stays. */
import { Document, type Pair, type Scalar, isMap, parseDocument } from 'yaml'
import type { Definition } from '@/diagram/definition'
import { keyOrder } from '../document'
import { canonical } from '../canonical'

const FORM = { lineWidth: 0, flowCollectionPadding: false, singleQuote: false } as const

export const toYaml = (definition: Definition): string => new Document(keyOrder(definition), { aliasDuplicateObjects: false }).toString(FORM)

export interface Misread {
  message: string
  line: number
  column: number
}

/** The definition that a text says, or why it says none. */
export function readYaml(text: string): { definition: Definition } | { misread: Misread } {
  const document = parseDocument(text, { uniqueKeys: true })
  const [error] = document.errors
  if (error) return { misread: { message: error.message.split('\n')[0] as string, line: error.linePos?.[0].line ?? 1, column: error.linePos?.[0].col ?? 1 } }
  const value: unknown = document.toJS({ maxAliasCount: 100 })
  const steps = (value as { steps?: unknown } | null)?.steps
  const isSteps = steps !== null && typeof steps === 'object' && !Array.isArray(steps) && Object.values(steps).every((each) => each !== null && typeof each === 'object' && !Array.isArray(each))
  if (value === null || typeof value !== 'object' || Array.isArray(value) || !isSteps) return { misread: { message: '', line: 1, column: 1 } }
  return { definition: value as Definition }
}

type Tree = Record<string, unknown>
const isTree = (value: unknown): value is Tree => value !== null && typeof value === 'object' && !Array.isArray(value)

/** The text of a definition, changed as little as it takes to say another one. */
export function patched(text: string, before: Definition, after: Definition): string {
  const document = parseDocument(text)
  if (document.errors.length > 0 || !isMap(document.contents)) return toYaml(after)
  patch(document, [], before as Tree, after as Tree)
  const made = document.toString(FORM)
  const read = readYaml(made)
  return 'definition' in read && canonical(read.definition) === canonical(after) ? made : toYaml(after)
}

function patch(document: Document, path: string[], before: Tree, after: Tree): void {
  for (const key of Object.keys(before)) if (!(key in after) || after[key] === undefined) document.deleteIn([...path, key])
  for (const [key, value] of Object.entries(after)) {
    if (value === undefined || canonical(before[key]) === canonical(value)) continue
    const below = [...path, key]
    if (isTree(before[key]) && isTree(value) && isMap(document.getIn(below))) patch(document, below, before[key], value)
    else put(document, path, key, value)
  }
}

/** New keys of a step stay in one line where the step is in one line; `view` and `steps` stay last. */
function put(document: Document, path: string[], key: string, value: unknown): void {
  const node = document.createNode(value)
  if (path.length === 0 && key !== 'view' && !document.has(key) && isMap(document.contents)) {
    const pair = document.createPair(key, value)
    const at = document.contents.items.findIndex((item) => String((item as Pair<Scalar>).key) === 'steps')
    if (at >= 0) {
      document.contents.items.splice(at, 0, pair as never)
      return
    }
  }
  document.setIn([...path, key], node)
}
