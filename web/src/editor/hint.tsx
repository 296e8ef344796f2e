/** A note at the pointer: why a wire cannot end here. */
import { useEffect, useRef } from 'react'
import { create } from 'zustand'
import { t } from '@/messages'
import { Icon } from '@/ui/icons'
import type { Refusal } from './connecting'

interface Hint {
  why: Refusal | null
  at: { x: number; y: number }
  /** It was dropped here: the note stays for a while, and is told to those who do not see it. */
  dropped: boolean
}

const useHint = create<Hint>(() => ({ why: null, at: { x: 0, y: 0 }, dropped: false }))
const STAYS = 6_000

/** Says while a wire is drawn why it could not end at what is under the pointer; null: it could. */
export const hint = (why: Refusal | null, at: { x: number; y: number }): void => useHint.setState({ why, at, dropped: false })
/** What was said on the way is gone; what was said of a drop stays. */
export const unhint = (): void => useHint.setState(({ dropped }) => (dropped ? {} : { why: null }))
/** Says it after a drop that changed nothing. */
export const stay = (why: Refusal, at: { x: number; y: number }): void => useHint.setState({ why, at, dropped: true })

const gone = () => useHint.setState({ why: null, dropped: false })

export function WireHint() {
  const { why, at, dropped } = useHint()
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (!why) return
    if (dropped) {
      const timer = setTimeout(gone, STAYS)
      globalThis.addEventListener('pointerdown', gone)
      return () => {
        clearTimeout(timer)
        globalThis.removeEventListener('pointerdown', gone)
      }
    }
    const follow = (event: PointerEvent) => {
      if (box.current) Object.assign(box.current.style, placed(event.clientX, event.clientY))
    }
    globalThis.addEventListener('pointermove', follow)
    return () => globalThis.removeEventListener('pointermove', follow)
  }, [why, dropped])
  if (!why) return null
  return (
    <div ref={box} className="pop wirehint" style={placed(at.x, at.y)} {...(dropped ? { role: 'alert' } : { 'aria-hidden': true })}>
      <Icon name="error" size="s" className="bad" />
      <span>
        <b>{t('refuse.title')}</b> {t(why.key, why.values)}
      </span>
    </div>
  )
}

const WIDTH = 260

/** Beside the pointer, inside the window. */
function placed(x: number, y: number): { left: string; top: string } {
  return { left: `${Math.max(8, Math.min(x + 14, innerWidth - WIDTH - 8))}px`, top: `${Math.min(y + 18, innerHeight - 72)}px` }
}
