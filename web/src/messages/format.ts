/** Fills in a message: `{name}`, `{names, and}` and `{n, plural, =0 {none} one {# run} other {# runs}}`, nested as deep as one likes. */

/** A text, a number, or a list in each of the ways that a message may name. */
export type Value = string | number | Record<string, string>
export type Values = Record<string, Value>

export function format(message: string, values: Values, language: string): string {
  let out = ''
  let at = 0
  while (at < message.length) {
    const open = message.indexOf('{', at)
    if (open < 0) return out + message.slice(at)
    out += message.slice(at, open)
    const close = closing(message, open)
    out += part(message.slice(open + 1, close), values, language)
    at = close + 1
  }
  return out
}

function part(inside: string, values: Values, language: string): string {
  const comma = inside.indexOf(',')
  const name = (comma < 0 ? inside : inside.slice(0, comma)).trim()
  if (!/^\w+$/.test(name)) return `{${format(inside, values, language)}}` // YAML, not a place
  const value = values[name]
  if (typeof value === 'object') return value[inside.slice(comma + 1).trim()] ?? ''
  if (comma < 0) return typeof value === 'number' ? number(value, language) : String(value ?? `{${name}}`)
  const rest = inside.slice(comma + 1)
  const [kind] = rest.split(',', 1)
  const cases = choices(rest.slice((kind ?? '').length + 1))
  if (kind?.trim() === 'select') return format(cases[String(value)] ?? cases.other ?? '', values, language)
  const count = Number(value)
  const chosen = cases[`=${count}`] ?? cases[new Intl.PluralRules(language).select(count)] ?? cases.other ?? ''
  return format(chosen.replaceAll('#', number(count, language)), values, language)
}

function number(value: number, language: string): string {
  return new Intl.NumberFormat(language).format(value)
}

function closing(text: string, open: number): number {
  let depth = 0
  for (let at = open; at < text.length; at++) {
    if (text[at] === '{') depth++
    if (text[at] === '}' && --depth === 0) return at
  }
  return text.length
}

function choices(text: string): Record<string, string> {
  const found: Record<string, string> = {}
  let at = 0
  while (at < text.length) {
    const open = text.indexOf('{', at)
    if (open < 0) break
    const close = closing(text, open)
    found[text.slice(at, open).trim()] = text.slice(open + 1, close)
    at = close + 1
  }
  return found
}
