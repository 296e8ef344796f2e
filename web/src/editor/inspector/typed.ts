/** Text that is being typed: it becomes an edit when the typing rests, and at once on Enter, on leaving, or when the field or the page goes. */
import { type ChangeEvent, type KeyboardEvent, useEffect, useRef, useState } from 'react'
import { beforeLeaving } from '../leaving'

interface Pending {
  text: string
  commit: (text: string) => void
}

export interface Typed {
  value: string
  onChange: (event: ChangeEvent<HTMLInputElement | HTMLTextAreaElement>) => void
  onBlur: () => void
  onKeyDown: (event: KeyboardEvent<HTMLInputElement | HTMLTextAreaElement>) => void
}

export function useTyped(value: string, commit: (text: string) => void, after = 400): Typed {
  const [typed, setTyped] = useState<string | null>(null)
  const pending = useRef<Pending | null>(null)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const flush = () => {
    clearTimeout(timer.current)
    const last = pending.current
    pending.current = null
    if (last) last.commit(last.text)
  }
  const latest = useRef(flush)
  latest.current = flush
  useEffect(() => {
    const take = () => latest.current()
    const end = beforeLeaving(take)
    return () => {
      end()
      take()
    }
  }, [])
  return {
    value: typed ?? value,
    onChange: (event) => {
      const text = event.target.value
      setTyped(text)
      pending.current = { text, commit }
      clearTimeout(timer.current)
      timer.current = setTimeout(flush, after)
    },
    onBlur: () => {
      flush()
      setTyped(null)
    },
    onKeyDown: (event) => {
      if (event.key === 'Enter' && !(event.target instanceof HTMLTextAreaElement && !event.ctrlKey)) flush()
      if (event.key === 'Escape' && pending.current) {
        event.stopPropagation()
        clearTimeout(timer.current)
        pending.current = null
        setTyped(null)
      }
    },
  }
}
