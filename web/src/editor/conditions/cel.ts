/** Conditions as rows, for the part of CEL that rows can show. What they cannot show stays text. */

export type Operator = '==' | '!=' | '<' | '<=' | '>' | '>=' | 'startsWith' | 'endsWith' | 'contains' | 'matches' | 'glob' | 'in' | 'has' | '!has' | 'is' | '!is'
export const OPERATORS: readonly Operator[] = ['==', '!=', '<', '<=', '>', '>=', 'startsWith', 'endsWith', 'contains', 'matches', 'glob', 'in', 'has', '!has', 'is', '!is']
/** Operators that ask for no value. */
export const ALONE: ReadonlySet<Operator> = new Set<Operator>(['has', '!has', 'is', '!is'])

/** A value as CEL writes it: text, number, true, null, a list of these, or another field. */
export type Value = { kind: 'text'; text: string } | { kind: 'plain'; text: string } | { kind: 'list'; items: Value[] } | { kind: 'field'; text: string }

export interface Row {
  kind: 'row'
  field: string
  op: Operator
  value: Value
}
export interface Rows {
  kind: 'group'
  join: 'and' | 'or'
  items: (Row | Rows)[]
}

export const DEEPEST = 2
/** What a new condition says: as rows, nothing is asked for yet. */
export const ALWAYS = 'true'
export const NONE: Value = { kind: 'plain', text: 'null' }

// -- reading -------------------------------------------------------------------------------------------------

interface Token {
  kind: 'name' | 'number' | 'text' | 'mark' | 'end'
  text: string
}

class Beyond extends Error {}

const TOKEN = /\s*(?:([A-Za-z_][A-Za-z0-9_]*)|(-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)|("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')|(&&|\|\||==|!=|<=|>=|[<>!()[\].,]))/y
const ESCAPES: Record<string, string> = { n: '\n', t: '\t', r: '\r', '\\': '\\', "'": "'", '"': '"' }

function tokens(source: string): Token[] {
  const found: Token[] = []
  TOKEN.lastIndex = 0
  const end = source.trimEnd().length
  while (TOKEN.lastIndex < end) {
    const match = TOKEN.exec(source)
    if (!match) throw new Beyond()
    const [, name, number, text, mark] = match
    if (name !== undefined) found.push({ kind: 'name', text: name })
    else if (number !== undefined) found.push({ kind: 'number', text: number })
    else if (text !== undefined) found.push({ kind: 'text', text: unquoted(text) })
    else found.push({ kind: 'mark', text: mark as string })
  }
  return [...found, { kind: 'end', text: '' }]
}

function unquoted(text: string): string {
  return text.slice(1, -1).replace(/\\(.)/g, (_all, letter: string) => {
    const plain = ESCAPES[letter]
    if (plain === undefined) throw new Beyond()
    return plain
  })
}

class Reader {
  private at = 0
  constructor(private readonly list: Token[]) {}

  whole(): Row | Rows {
    const found = this.either()
    if (this.now.kind !== 'end') throw new Beyond()
    return found
  }

  private get now(): Token {
    return this.list[this.at] as Token
  }
  private takes(mark: string): boolean {
    if (this.now.kind !== 'mark' || this.now.text !== mark) return false
    this.at++
    return true
  }
  private needs(mark: string): void {
    if (!this.takes(mark)) throw new Beyond()
  }

  private either(): Row | Rows {
    return this.joined('or', '||', () => this.both())
  }
  private both(): Row | Rows {
    return this.joined('and', '&&', () => this.one())
  }
  private joined(join: Rows['join'], mark: string, part: () => Row | Rows): Row | Rows {
    const items = [part()]
    while (this.takes(mark)) items.push(part())
    return items.length === 1 ? (items[0] as Row | Rows) : { kind: 'group', join, items }
  }

  private one(): Row | Rows {
    if (this.takes('(')) {
      const inside = this.either()
      this.needs(')')
      return inside
    }
    if (this.takes('!')) return this.not()
    if (this.now.kind === 'name' && (this.now.text === 'has' || this.now.text === 'glob') && this.list[this.at + 1]?.text === '(') return this.call()
    return this.compared()
  }

  private not(): Row {
    if (this.now.text === 'has') return { ...this.call(), op: '!has' }
    const bracket = this.takes('(')
    const field = this.path()
    if (typeof field !== 'string') throw new Beyond()
    if (bracket) this.needs(')')
    return { kind: 'row', field, op: '!is', value: NONE }
  }

  private call(): Row {
    const name = this.now.text
    this.at++
    this.needs('(')
    const field = this.path()
    if (typeof field !== 'string') throw new Beyond()
    if (name === 'has') {
      this.needs(')')
      return { kind: 'row', field, op: 'has', value: NONE }
    }
    this.needs(',')
    const value = this.value()
    this.needs(')')
    return { kind: 'row', field, op: 'glob', value }
  }

  private compared(): Row {
    const field = this.path()
    if (typeof field !== 'string') return { kind: 'row', ...field }
    const mark = this.now
    if (mark.kind === 'name' && mark.text === 'in') {
      this.at++
      return { kind: 'row', field, op: 'in', value: this.value() }
    }
    if (mark.kind === 'mark' && ['==', '!=', '<', '<=', '>', '>='].includes(mark.text)) {
      this.at++
      return { kind: 'row', field, op: mark.text as Operator, value: this.value() }
    }
    return { kind: 'row', field, op: 'is', value: NONE }
  }

  /** A field; or, where it ends in a test of text such as `.endsWith('x')`, the whole row. */
  private path(): string | { field: string; op: Operator; value: Value } {
    if (this.now.kind !== 'name' || ['true', 'false', 'null', 'in'].includes(this.now.text)) throw new Beyond()
    let field = this.now.text
    this.at++
    for (;;) {
      if (this.takes('.')) {
        const name = this.name()
        if (this.takes('(')) return { field, ...this.tested(name) }
        field += `.${name}`
      } else if (this.takes('[')) field += this.key()
      else return field
    }
  }

  private name(): string {
    const { kind, text } = this.now
    if (kind !== 'name') throw new Beyond()
    this.at++
    return text
  }

  private tested(name: string): { op: Operator; value: Value } {
    if (!['startsWith', 'endsWith', 'contains', 'matches'].includes(name)) throw new Beyond()
    const value = this.value()
    this.needs(')')
    return { op: name as Operator, value }
  }

  private key(): string {
    const { kind, text } = this.now
    if (kind !== 'text' && !(kind === 'number' && /^\d+$/.test(text))) throw new Beyond()
    this.at++
    this.needs(']')
    return kind === 'text' ? `[${quoted(text)}]` : `[${text}]`
  }

  private value(): Value {
    const { kind, text } = this.now
    if (kind === 'text' || kind === 'number') {
      this.at++
      return kind === 'text' ? { kind: 'text', text } : { kind: 'plain', text }
    }
    if (kind === 'name' && ['true', 'false', 'null'].includes(text)) {
      this.at++
      return { kind: 'plain', text }
    }
    if (this.takes('[')) {
      const items: Value[] = []
      while (!this.takes(']')) {
        if (items.length > 0) this.needs(',')
        items.push(this.value())
      }
      return { kind: 'list', items }
    }
    const field = this.path()
    if (typeof field !== 'string') throw new Beyond()
    return { kind: 'field', text: field }
  }
}

/** The rows that a condition is, or null where rows cannot show it. */
export function readRows(source: string): Rows | null {
  if (!source.trim() || source.trim() === ALWAYS) return { kind: 'group', join: 'and', items: [] }
  try {
    const found = new Reader(tokens(source)).whole()
    const rows: Rows = found.kind === 'group' ? found : { kind: 'group', join: 'and', items: [found] }
    return depth(rows) > DEEPEST ? null : rows
  } catch (error) {
    if (error instanceof Beyond) return null
    throw error
  }
}

/** What rows come to in the place of a text: that which always holds goes on to do so until a field is chosen. */
export const writtenOver = (text: string, rows: Rows): string => writeRows(rows) || (text.trim() === ALWAYS ? text : '')

const depth = (item: Row | Rows): number => (item.kind === 'row' ? 0 : 1 + Math.max(0, ...item.items.map(depth)))

// -- writing -------------------------------------------------------------------------------------------------

export function quoted(text: string): string {
  const inside = text.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', '\\n').replaceAll('\t', '\\t').replaceAll('\r', '\\r')
  return `'${inside}'`
}

export function writeValue(value: Value): string {
  switch (value.kind) {
    case 'text':
      return quoted(value.text)
    case 'list':
      return `[${value.items.map(writeValue).join(', ')}]`
    default:
      return value.text
  }
}

function writeRow({ field, op, value }: Row): string {
  switch (op) {
    case 'has':
      return `has(${field})`
    case '!has':
      return `!has(${field})`
    case 'is':
      return field
    case '!is':
      return `!${field}`
    case 'glob':
      return `glob(${field}, ${writeValue(value)})`
    case 'startsWith':
    case 'endsWith':
    case 'contains':
    case 'matches':
      return `${field}.${op}(${writeValue(value)})`
    default:
      return `${field} ${op} ${writeValue(value)}`
  }
}

/** The condition that rows say; rows without a field are not there yet. */
export function writeRows(rows: Rows): string {
  const parts = rows.items
    .map((item) => {
      if (item.kind === 'row') return isWhole(item) ? writeRow(item) : ''
      const inside = writeRows(item)
      return inside && filled(item) > 1 ? `(${inside})` : inside
    })
    .filter(Boolean)
  return parts.join(rows.join === 'and' ? ' && ' : ' || ')
}

/** Whether a row says something: a field, and to be smaller or larger than what. */
const isWhole = ({ field, op, value }: Row): boolean => field !== '' && !(['<', '<=', '>', '>='].includes(op) && value.kind === 'text' && value.text === '')

const filled = (rows: Rows): number => rows.items.filter((item) => (item.kind === 'row' ? isWhole(item) : writeRows(item))).length

// -- values that people type ---------------------------------------------------------------------------------

/** What somebody typed, as a value: numbers, true, false and null are themselves; "5" in quotes is text. */
export function typedValue(typed: string, op: Operator): Value {
  if (op === 'in') return { kind: 'list', items: typed.split(',').map((each) => each.trim()).filter(Boolean).map((each) => typedValue(each, '==')) }
  const text = typed.trim()
  if (['startsWith', 'endsWith', 'contains', 'matches', 'glob'].includes(op)) return { kind: 'text', text: inQuotes(text) ?? typed }
  const bare = inQuotes(text)
  if (bare !== null) return { kind: 'text', text: bare }
  if (/^-?\d+(\.\d+)?$/.test(text) || ['true', 'false', 'null'].includes(text)) return { kind: 'plain', text }
  if (/^(data|tags|run|event|events|steps|item|index|body|headers|query|object)[.[]/.test(text) && readRows(`${text} == 1`) !== null) return { kind: 'field', text }
  return { kind: 'text', text: typed }
}

const inQuotes = (text: string): string | null => (/^".*"$|^'.*'$/s.test(text) && text.length > 1 ? text.slice(1, -1) : null)

/** A value as it is typed. */
export function shownValue(value: Value): string {
  if (value.kind === 'list') return value.items.map(shownValue).join(', ')
  if (value.kind !== 'text') return value.text
  return typedValue(value.text, '==').kind === 'text' && inQuotes(value.text) === null ? value.text : `"${value.text}"`
}

/** `steps.look.output.size` as people read it: "look › size". */
export function fieldText(field: string, titles: (step: string) => string = (step) => step): string {
  const parts = field.match(/[A-Za-z_][A-Za-z0-9_]*|\['(?:[^'\\]|\\.)*'\]|\[\d+\]/g)?.map((part) => (part.startsWith("['") ? unquoted(part.slice(1, -1)) : part.replace(/^\[(\d+)\]$/, '$1'))) ?? [field]
  const [root, step, kind, ...rest] = parts
  if (root === 'steps' && step !== undefined && kind === 'output') return [titles(step), ...rest].join(' › ')
  return parts.join(' › ')
}

/** A field of an object, as CEL writes it. */
export const below = (path: string, key: string): string => (/^[A-Za-z_][A-Za-z0-9_]*$/.test(key) ? `${path}.${key}` : `${path}[${quoted(key)}]`)

/** The fields that a sample has, each with its value, as far as people would look. */
export function fieldsIn(scope: Record<string, unknown>, most = 200): { field: string; value: unknown }[] {
  const found: { field: string; value: unknown }[] = []
  const visit = (path: string, value: unknown, left: number) => {
    if (found.length >= most) return
    if (value !== null && typeof value === 'object' && !Array.isArray(value) && left > 0) {
      for (const [key, each] of Object.entries(value)) visit(below(path, key), each, left - 1)
      return
    }
    found.push({ field: path, value })
  }
  for (const [root, value] of Object.entries(scope)) visit(root, value, 5)
  return found
}
