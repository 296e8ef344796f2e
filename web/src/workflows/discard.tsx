/** A draft that is not wanted any more: what is published stays; what never was is gone, so that is asked first. */
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { ask, at } from '@/api/client'
import type { Draft } from '@/api/types'
import { t } from '@/messages'
import { Button, Dialog, MoreMenu } from '@/ui'
import { useActing } from '@/run/acting'
import { Refused } from '@/run/dialogs'

export function DiscardMenu({ draft }: { draft: Draft }) {
  const [asking, setAsking] = useState(false)
  const { name, published_version: published, etag } = draft
  const never = published === null || published === undefined
  // What is gone is not asked for again.
  const { busy, error, act } = useActing([['workflows'], ...(never ? [] : [['workflow', name]])], true)
  const navigate = useNavigate()
  if (!never && !draft.changed) return null
  const label = never ? t('wf.removeDraft') : t('wf.discard')
  const discard = async () => {
    const done = await act(() => ask('DELETE', at`/api/workflows/${name}`, { headers: { 'If-Match': `"${etag}"` } }), never ? t('wf.draftRemoved', { name: draft.title ?? name }) : t('wf.discarded', { n: published }))
    if (!done) return
    setAsking(false)
    if (never) await navigate({ to: '/app/workflows' })
  }
  return (
    <>
      <MoreMenu items={[{ id: 'discard', label, icon: 'trash', danger: true, run: () => setAsking(true) }]} />
      <Dialog
        open={asking}
        onClose={() => setAsking(false)}
        title={never ? t('wf.removeTitle', { name: draft.title ?? name }) : t('wf.discardTitle')}
        detail={never ? t('wf.removeDetail') : t('wf.discardDetail', { n: published })}
        actions={
          <>
            <Button onClick={() => setAsking(false)}>{t('act.cancel')}</Button>
            <Button kind="danger" busy={busy} onClick={() => void discard()}>
              {label}
            </Button>
          </>
        }
      >
        <Refused error={error} />
      </Dialog>
    </>
  )
}
