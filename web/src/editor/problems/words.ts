/** What the checks say, in the words of the reader: made of code and arguments, as the server makes its own sentences. */
import type { Finding } from '@/api/types'
import { type Definition, type Offers, titleOf } from '@/diagram/definition'
import { type MessageKey, type Value, isMessage, t } from '@/messages'
import { spanText } from '@/ui/times'

/** Names in quotation marks; a step by its title, and without the word before it. What is code for the server is a name for the reader. */
export function inWords(text: string, definition: Definition): string {
  return text
    .replace(/(?:\bstep )?'([^'\n]{1,128})'/gi, (all, name: string) => (definition.steps[name] ? t('why.named', { name: titleOf(name, definition.steps[name]) }) : all.replace(/'([^']*)'/, (_all, inside: string) => t('why.named', { name: inside }))))
    .replace(/`([^`]*)`/g, (_all, code: string) => t('why.named', { name: code }))
}

type Told = Pick<Finding, 'code' | 'step' | 'message' | 'hint' | 'args'>
type Argument = Finding['args'][string]

/** A finding as a sentence, and what to do about it. One that we have no words for is said as the server says it. */
export function worded({ code, step, message, hint, args }: Told, definition: Definition, offers: Offers = {}): { sentence: string; hint: string } {
  const sentence = keyOf(code, '', args.variant)
  const advice = keyOf(code, '.hint', args.remedy, args.variant)
  if (!sentence || !advice || Object.keys(args).length === 0) return { sentence: inWords(message, definition), hint: inWords(hint, definition) }
  const settings = offers[definition.steps[step ?? '']?.task ?? '']?.parameters?.properties as Settings
  const values = Object.fromEntries(Object.entries(args).map(([name, value]) => [name, shown(name, value, definition, settings)]))
  const place = 'expression' in args ? t(step ? 'finding.in-step' : 'finding.in-workflow', values) : ''
  return { sentence: place + t(sentence, values), hint: [t(advice, values), ...('near' in args ? [t('finding.near', values)] : [])].join(' ') }
}

/** The message for the first of these names that has one, else that of the code. */
function keyOf(code: string, end: string, ...names: (Argument | undefined)[]): MessageKey | undefined {
  const named = names.filter((name) => name !== undefined).map((name) => `finding.${code}.${String(name)}${end}`)
  return [...named, `finding.${code}${end}`].find(isMessage)
}

type Settings = Record<string, { title?: string }> | undefined
const LABELS: Record<string, 'inspector.attempt' | 'inspector.heartbeat' | 'inspector.toStart' | 'inspector.toClose' | 'inspector.warnAfter'> = {
  start_to_close: 'inspector.attempt',
  heartbeat: 'inspector.heartbeat',
  schedule_to_start: 'inspector.toStart',
  schedule_to_close: 'inspector.toClose',
  warn_after: 'inspector.warnAfter',
}
const STEPS = new Set(['step', 'other', 'decision'])
const TIMES = new Set(['time', 'limit'])
const SETTINGS = new Set(['first', 'inner', 'outer', 'setting', 'settings'])

/** An argument as the pages call it: steps by their titles, times in words, settings by their labels. */
function shown(name: string, value: Argument, definition: Definition, settings: Settings): Value {
  if (typeof value === 'number') return value
  const label = (each: string) => (LABELS[each] ? t(LABELS[each]) : (settings?.[each]?.title ?? each))
  const title = (each: string) => titleOf(each, definition.steps[each])
  const call = SETTINGS.has(name) ? label : title
  if (typeof value !== 'string') return listed(value, call)
  if (TIMES.has(name)) return spanText(value)
  return SETTINGS.has(name) || STEPS.has(name) ? call(value) : value
}

/** A list in each way that a message may want it. */
function listed(names: (string | string[])[], call: (name: string) => string): Value {
  const joined = (words: string[], last: 'finding.and' | 'finding.or'): string => [words.slice(0, -1).join(', '), ...words.slice(-1)].filter(Boolean).join(t(last))
  const named = (name: string) => t('why.named', { name: call(name) })
  const words = names.map((each) => (typeof each === 'string' ? named(each) : t('finding.any', { names: joined(each.map(named), 'finding.or') })))
  return { and: joined(words, 'finding.and'), or: joined(words, 'finding.or'), list: names.flat().join(', '), either: names.flat().join(' | ') }
}
