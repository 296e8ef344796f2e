/** Where a text stops being JSON, and what is likely meant: a browser's own words for it help nobody. */
import { t } from '@/messages'

export interface Slip {
  line: number
  column: number
  kind: 'short' | 'quotes' | 'slip'
}

class Stopped extends Error {
  constructor(readonly at: number) {
    super()
  }
}

const TOKEN = /\s*(?:("(?:[^"\\\p{Cc}]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*")|(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true\b|false\b|null\b)|([[\]{},:]))/uy

/** Reads tokens one after the other; what none begins with is where it stops. */
class Reader {
  at = 0
  constructor(private readonly text: string) {}

  next(): { kind: 'text' | 'plain' | 'mark'; text: string; from: number } {
    TOKEN.lastIndex = this.at
    const found = TOKEN.exec(this.text)
    const from = this.at + (/^\s*/.exec(this.text.slice(this.at))?.[0].length ?? 0)
    if (!found) throw new Stopped(from)
    this.at = TOKEN.lastIndex
    return { kind: found[1] !== undefined ? 'text' : found[2] !== undefined ? 'plain' : 'mark', text: found[1] ?? found[2] ?? found[3] ?? '', from }
  }

  expect(...marks: string[]): string {
    const token = this.next()
    if (token.kind !== 'mark' || !marks.includes(token.text)) throw new Stopped(token.from)
    return token.text
  }

  /** A value, or the mark that ends what it is in where that may be. */
  value(end?: string): boolean {
    const token = this.next()
    if (token.kind !== 'mark') return true
    if (token.text === end) return false
    if (token.text === '[') this.items(']', () => this.value())
    else if (token.text === '{') this.items('}', () => this.pair())
    else throw new Stopped(token.from)
    return true
  }

  private items(end: string, item: () => unknown): void {
    const before = this.at
    const first = this.next()
    if (first.kind === 'mark' && first.text === end) return
    this.at = before
    do item()
    while (this.expect(',', end) === ',')
  }

  private pair(): void {
    const name = this.next()
    if (name.kind !== 'text') throw new Stopped(name.from)
    this.expect(':')
    this.value()
  }
}

/** Null where the text is JSON. */
export function slipOf(text: string): Slip | null {
  const reader = new Reader(text)
  try {
    reader.value()
    const rest = text.slice(reader.at)
    if (!rest.trim()) return null
    throw new Stopped(reader.at + (rest.length - rest.trimStart().length))
  } catch (stopped) {
    if (!(stopped instanceof Stopped)) throw stopped
    const before = text.slice(0, stopped.at).split('\n')
    const kind = stopped.at >= text.trimEnd().length ? 'short' : /^['‘’“”„a-zA-Z_]/.test(text.slice(stopped.at)) ? 'quotes' : 'slip'
    return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1, kind }
  }
}

/** Why a text is no JSON, in a sentence that says where to look. */
export function notJson(text: string): string {
  const { line, column, kind } = slipOf(text) ?? { line: 1, column: 1, kind: 'slip' as const }
  return kind === 'short' ? t('json.short') : t(kind === 'quotes' ? 'json.quotes' : 'json.slip', { line, column })
}
