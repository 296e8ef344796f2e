/** Below a long list: how much of it is shown, and more of it. */
import type { Results } from '@/api/releases'
import { t } from '@/messages'
import { Button } from '@/ui'

interface Paged {
  data: Results<unknown> | undefined
  hasNextPage: boolean
  isFetchingNextPage: boolean
  fetchNextPage: () => unknown
}

export function More({ of }: { of: Paged }) {
  if (!of.data || !of.hasNextPage) return null
  return (
    <div className="row justify-center gap-3 p-3">
      <span className="cap">{t('re.shownOf', { n: of.data.results.length, of: of.data.count })}</span>
      <Button busy={of.isFetchingNextPage} onClick={() => void of.fetchNextPage()}>
        {t('ru.more')}
      </Button>
    </div>
  )
}
