/** What a box is for somebody who hears it. */
import { isMessage, t } from '@/messages'
import { emitsOf, slotsOf } from './definition'
import type { Box } from './graph'
import type { BoxLook } from './look'

const said = new WeakMap<Box, { look: BoxLook; text: string }>()

/** The full label of a box; said anew only where the box or its look is another. */
export function labelOf(box: Box, look: BoxLook): string {
  const known = said.get(box)
  if (known?.look === look) return known.text
  const text = textOf(box, look)
  said.set(box, { look, text })
  return text
}

function textOf(box: Box, look: BoxLook): string {
  if (box.kind === 'group') return t('diagram.folded', { title: box.title, steps: box.steps.join(', ') })
  if (box.kind !== 'step') return 'event' in box ? box.event : box.kind === 'outside' ? `${t('diagram.outside')}: ${box.events.join(', ')}` : box.name
  const waits = slotsOf(box.step).map((slot) => slotText(slot.kind, slot.events, slot.need)).join(', ')
  const fires = Object.values(emitsOf(box.step)).flat()
  const status = box.disabled ? 'disabled' : look.state?.status
  const key = `step.${status}`
  const words = [
    ...(box.starts ? [t('diagram.atOnce')] : []),
    ...(status ? [look.state?.text ?? (isMessage(key) ? t(key) : status)] : []),
    ...(look.state?.status === 'running' && (look.state.attempts ?? 1) > 1 ? [t('diagram.attempt', { n: look.state.attempts ?? 1 })] : []),
    ...(look.finding === 'error' ? [t('diagram.errors', { n: 1 })] : look.finding === 'warning' ? [t('diagram.warnings', { n: 1 })] : []),
  ]
  return t('diagram.step', {
    title: box.title,
    state: words.map((state) => t('diagram.stepState', { state })).join(''),
    waits,
    fires: [...new Set(fires)].join(', ') || t('diagram.nothing'),
  })
}

function slotText(kind: string, events: string[], need: number): string {
  if (kind === 'some') return `${t('diagram.some', { need, of: events.length })}: ${events.join(', ')}`
  return events.join(' | ')
}
