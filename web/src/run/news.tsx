import { useEffect, useRef, useState } from 'react'
import type { Entry } from '@/api/types'
import { t } from '@/messages'

/** What happens, in words, for who hears the page: at most once in three seconds, joined; failures at once. */
export function News({ latest }: { latest: Entry[] }) {
  const [said, setSaid] = useState('')
  const [alarm, setAlarm] = useState('')
  const gathered = useRef({ done: 0, begun: 0, timer: undefined as ReturnType<typeof setTimeout> | undefined })
  useEffect(() => {
    const now = gathered.current
    if (latest.length === 0) return
    for (const entry of latest) {
      if (entry.kind === 'ended' && entry.port === 'failed') setAlarm(t('rp.h.failed', { step: entry.step ?? '' }))
      else if (entry.kind === 'ended') now.done++
      else if (entry.kind === 'fired') now.begun++
    }
    now.timer ??= setTimeout(() => {
      setSaid(t('rp.news', { done: now.done, begun: now.begun }))
      now.done = now.begun = 0
      now.timer = undefined
    }, 3_000)
  }, [latest])
  useEffect(() => () => clearTimeout(gathered.current.timer), [])
  return (
    <>
      <div className="sr" aria-live="polite">
        {said}
      </div>
      <div className="sr" role="alert">
        {alarm}
      </div>
    </>
  )
}
