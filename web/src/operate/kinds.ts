/** What a source is, in a word; one that the page does not know yet keeps its name. */
import { isMessage, t } from '@/messages'

export function kindText(kind: string): string {
  const key = `op.kind.${kind}`
  return isMessage(key) ? t(key) : kind
}
