/** What boxes are called: those that are built in by the catalogue, others by their workers. */
import type { Offer } from '@/diagram/definition'
import { isMessage, t } from '@/messages'

export function offerTitle(offer: Pick<Offer, 'name' | 'title' | 'kind'>): string {
  const key = `box.${offer.name}`
  return offer.kind === 'built-in' && isMessage(key) ? t(key) : offer.title || offer.name
}
