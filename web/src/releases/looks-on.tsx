/** Says why there are no buttons: who looks may not do what they would. */
import { useRights } from '@/api/rights'
import { t } from '@/messages'

export function LooksOn() {
  return useRights().operates ? null : <span className="cap">{t('re.looksOn')}</span>
}
