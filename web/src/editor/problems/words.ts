/** What the checks say, in the words of the reader: ours, or the server's own sentence with what people call their steps. */
import type { Finding } from '@/api/types'
import { type Definition, type Offers, titleOf } from '@/diagram/definition'
import { isMessage, t } from '@/messages'
import { spanText } from '@/ui/times'
import { type Known, apart, known } from './sentences'

/** Names in quotation marks; a step by its title, and without the word before it. What is code for the server is a name for the reader. */
export function inWords(text: string, definition: Definition): string {
  return text
    .replace(/(?:\bstep )?'([^'\n]{1,128})'/gi, (all, name: string) => (definition.steps[name] ? t('why.named', { name: titleOf(name, definition.steps[name]) }) : all.replace(/'([^']*)'/, (_all, inside: string) => t('why.named', { name: inside }))))
    .replace(/`([^`]*)`/g, (_all, code: string) => t('why.named', { name: code }))
}

type Told = Pick<Finding, 'code' | 'step' | 'event' | 'message' | 'hint'>

/** A finding as a sentence, and what to do about it. */
export function worded(finding: Told, definition: Definition, offers: Offers = {}): { sentence: string; hint: string } {
  const lacking = lackingOf(finding, definition, offers)
  if (lacking) return lacking
  const { hint, meant } = apart(finding.hint)
  const said = known(finding.code, finding.message)
  const hinted = known(finding.code, hint, true)
  const ours = ownWords(finding, definition)
  const sentence = said ? spoken(said, definition) : (ours?.sentence ?? inWords(finding.message, definition))
  const advice = hinted ? spoken(hinted, definition) : ours && hint ? ours.hint : inWords(hint, definition)
  return { sentence, hint: meant ? [advice, t('finding.meant', { name: meant })].filter(Boolean).join(' ') : advice }
}

/** What we say of every finding of its kind, whatever the server says; null: nothing. */
function ownWords(finding: Told, definition: Definition): { sentence: string; hint: string } | null {
  const key = `finding.${finding.code}${finding.step === null ? '.none' : ''}`
  if (!isMessage(key)) return null
  const step = finding.step ?? ''
  const values = { step: titleOf(step, definition.steps[step]), event: finding.event ?? '', task: definition.steps[step]?.task ?? '' }
  const hint = `${key}.hint`
  return { sentence: t(key, values), hint: isMessage(hint) ? t(hint, values) : '' }
}

const LABELS: Record<string, 'inspector.attempt' | 'inspector.heartbeat' | 'inspector.toStart' | 'inspector.toClose' | 'inspector.warnAfter'> = {
  start_to_close: 'inspector.attempt',
  heartbeat: 'inspector.heartbeat',
  schedule_to_start: 'inspector.toStart',
  schedule_to_close: 'inspector.toClose',
  warn_after: 'inspector.warnAfter',
}

/** A sentence of the server in the language of the reader: steps by their titles, times and settings as the pages call them. */
function spoken({ shape, values }: Known, definition: Definition): string {
  const title = (name: string) => titleOf(name, definition.steps[name])
  const listed = (names: string) => names.replace(/'([^']+)'| and | or /g, (all, name?: string) => (name === undefined ? t(all === ' and ' ? 'finding.and' : 'finding.or') : t('why.named', { name: title(name) })))
  const label = (name: string) => (LABELS[name] ? t(LABELS[name]) : name)
  const ways: Record<string, (value: string) => string> = { step: title, other: title, names: listed, others: listed, first: label, inner: label, outer: label, time: spanText, limit: spanText }
  return t(`said.${shape}`, Object.fromEntries(Object.entries(values).map(([name, value]) => [name, (ways[name] ?? String)(value)])))
}

/** A box that is not filled in: its fields by what the inspector calls them. */
function lackingOf(finding: Told, definition: Definition, offers: Offers): { sentence: string; hint: string } | null {
  const step = definition.steps[finding.step ?? '']
  const said = finding.code === 'missing-data' && step ? / does not say (.+) in `with`/.exec(finding.message)?.[1] : undefined
  if (!said || !step) return null
  const fields = fieldsOf(said, offers[step.task ?? '']?.parameters?.properties as Record<string, { title?: string }> | undefined)
  return { sentence: t('finding.lacking', { step: titleOf(finding.step ?? '', step), fields }), hint: t('finding.lacking.hint') }
}

const fieldsOf = (said: string, properties: Record<string, { title?: string }> | undefined): string => [...said.matchAll(/'([^']+)'/g)].map(([, name = '']) => t('why.named', { name: properties?.[name]?.title ?? name })).join(', ')
