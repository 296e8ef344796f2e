/** What is shown only to who may do it, and why it is not shown. */
import type { ReactNode } from 'react'
import { type Rights, useRights } from '@/api/rights'
import { type MessageKey, t } from '@/messages'

export function May({ what, children }: { what: keyof Rights; children: ReactNode }) {
  return useRights()[what] ? children : null
}

/** Says why there are no buttons: who looks may not do what they would. */
export function LooksOn({ text = 'shell.looksOn' }: { text?: MessageKey }) {
  return useRights().operates ? null : <span className="cap">{t(text)}</span>
}
