/** Five hints, one after the other, each beside what it is about. */
import { useEffect, useState } from 'react'
import { t, want } from '@/messages'
import { Button } from '@/ui'

want('templates')

const KEY = 'penstock.tour'
const STOPS = [
  { at: '.pal', text: 'tour.palette', side: 'right' },
  { at: '.edcanvas', text: 'tour.connect', side: 'inside' },
  { at: '.bot', text: 'tour.prove', side: 'above' },
  { at: '.insp', text: 'tour.inspect', side: 'left' },
  { at: '.ed .top', text: 'tour.publish', side: 'below' },
] as const

export const startTour = (): void => sessionStorage.setItem(KEY, '0')

export function Tour() {
  const [at, setAt] = useState(() => Number(sessionStorage.getItem(KEY) ?? -1))
  const stop = STOPS[at]
  const [place, setPlace] = useState<{ left: number; top: number } | null>(null)
  useEffect(() => {
    if (at < 0 || at >= STOPS.length) sessionStorage.removeItem(KEY)
    else sessionStorage.setItem(KEY, String(at))
    const box = stop ? document.querySelector(stop.at)?.getBoundingClientRect() : undefined
    setPlace(stop ? beside(box ?? new DOMRect(0, 0, innerWidth, innerHeight), box ? stop.side : 'inside') : null) // what is folded away cannot be pointed at
  }, [at, stop])
  if (!stop || !place) return null
  const last = at === STOPS.length - 1
  return (
    <section className="tour" style={{ left: place.left, top: place.top }} aria-label={t('tour.label')}>
      <div className="cap">{t('tour.of', { n: at + 1, of: STOPS.length })}</div>
      <p className="mt-1" role="status">
        {t(stop.text)}
      </p>
      <div className="row mt-2.5">
        <Button size="s" kind="ghost" className="-ms-2" onClick={() => setAt(-1)}>
          {t('tour.leave')}
        </Button>
        <span className="grow" />
        {at > 0 ? (
          <Button size="s" onClick={() => setAt(at - 1)}>
            {t('tour.back')}
          </Button>
        ) : null}
        <Button size="s" kind="primary" onClick={() => setAt(last ? -1 : at + 1)}>
          {last ? t('tour.done') : t('tour.next')}
        </Button>
      </div>
    </section>
  )
}

function beside(box: DOMRect, side: (typeof STOPS)[number]['side']): { left: number; top: number } {
  const inside = (left: number, top: number) => ({ left: Math.max(8, Math.min(left, innerWidth - 316)), top: Math.max(8, Math.min(top, innerHeight - 180)) })
  switch (side) {
    case 'right':
      return inside(box.right + 12, box.top + 40)
    case 'left':
      return inside(box.left - 312, box.top + 40)
    case 'above':
      return inside(box.left + 24, box.top - 150)
    case 'below':
      return inside(box.right - 340, box.bottom + 12)
    default:
      return inside(box.left + box.width / 2 - 150, box.top + box.height / 2 - 60)
  }
}
