/** What the checks say, in the words of the reader: ours, or the server's own sentence with what people call their steps. */
import type { Finding } from '@/api/types'
import { type Definition, type Offers, titleOf } from '@/diagram/definition'
import { isMessage, language, t } from '@/messages'

/** Names in quotation marks; a step by its title, and without the word before it. What is code for the server is a name for the reader. */
export function inWords(text: string, definition: Definition): string {
  return text
    .replace(/(?:\bstep )?'([^'\n]{1,128})'/gi, (all, name: string) => (definition.steps[name] ? `“${titleOf(name, definition.steps[name])}”` : all.replace(/'([^']*)'/, '“$1”')))
    .replace(/`([^`]*)`/g, '“$1”')
}

/** Here the server says more, in plain words too: the cause, or the times. */
const THEIRS = new Set(['dead-step', 'missing-data', 'time-outs'])

type Told = Pick<Finding, 'code' | 'step' | 'event' | 'message' | 'hint'>

/** A finding as a sentence, and what to do about it. */
export function worded(finding: Told, definition: Definition, offers: Offers = {}): { sentence: string; hint: string } {
  const lacking = lackingOf(finding, definition, offers)
  if (lacking) return lacking
  const theirs = { sentence: inWords(finding.message, definition), hint: inWords(finding.hint, definition) }
  const key = `finding.${finding.code}${finding.step === null ? '.none' : ''}`
  if (!isMessage(key) || (language() === 'en' && THEIRS.has(finding.code))) return theirs
  const step = finding.step ?? ''
  const values = { step: titleOf(step, definition.steps[step]), event: finding.event ?? '', task: definition.steps[step]?.task ?? '' }
  const hint = `${key}.hint`
  return { sentence: t(key, values), hint: isMessage(hint) ? t(hint, values) : '' }
}

/** A box that is not filled in: its fields by what the inspector calls them. */
function lackingOf(finding: Told, definition: Definition, offers: Offers): { sentence: string; hint: string } | null {
  const step = definition.steps[finding.step ?? '']
  const said = finding.code === 'missing-data' && step ? / does not say (.+) in `with`/.exec(finding.message)?.[1] : undefined
  if (!said || !step) return null
  const known = offers[step.task ?? '']?.parameters?.properties as Record<string, { title?: string }> | undefined
  const fields = [...said.matchAll(/'([^']+)'/g)].map(([, name = '']) => `“${known?.[name]?.title ?? name}”`)
  return { sentence: t('finding.lacking', { step: titleOf(finding.step ?? '', step), fields: fields.join(', ') }), hint: t('finding.lacking.hint') }
}
