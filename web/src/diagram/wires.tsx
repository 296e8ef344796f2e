import { memo, useEffect, useRef } from 'react'
import { t } from '@/messages'
import { Icon } from '@/ui/icons'
import type { Point } from './definition'
import type { Wire } from './graph'
import { hovers, useHovered } from './hover'
import { type Route, along, pathOf, shapeOf } from './route'

export type WireTone = 'plain' | 'travelled' | 'played' | 'bad' | 'selected'

const TONES: Record<WireTone, string> = { plain: '', travelled: 'dn', played: 'ac', bad: 'tr', selected: 'ac' }

export interface WireLayerProps {
  routes: Route[]
  tone?: (route: Route) => WireTone
  dim?: (route: Route) => boolean
  /** Events that are here, for their pills. */
  here?: ReadonlySet<string>
  bad?: ReadonlySet<string>
  onWire?: (id: string) => void
  onPill?: (event: string, wire: string) => void
  onPillTwice?: (event: string) => void
  firsts?: ReadonlyMap<string, { need: number; of: number }>
}

/** All wires, first those of failures: each has a halo, so that a crossing reads as a bridge. */
export const WireLayer = memo(function WireLayer({ routes, tone, dim, here, bad, onWire, onPill, onPillTwice, firsts }: WireLayerProps) {
  const events = [...Map.groupBy(routes, (route) => `${route.wire.bundle}|${route.wire.failed}`).values()].sort((one, two) => Number(two[0]?.wire.failed) - Number(one[0]?.wire.failed))
  return (
    <div className="wires">
      <svg className="w" aria-hidden="true" focusable="false">
        {events.map((group) => (
          <EventWires key={`${group[0]?.wire.bundle}|${group[0]?.wire.failed}`} group={group} looks={group.map((route) => lookOf(route, tone, dim)).join('|')} onWire={onWire} />
        ))}
      </svg>
      {routes.map((route) => (route.pill && route.wire.pill ? <Pill key={route.wire.id} route={route} at={route.pill} here={here?.has(route.wire.event) ?? false} bad={bad?.has(route.wire.event) ?? false} dim={dim?.(route) ?? false} onClick={onPill} onTwice={onPillTwice} /> : null))}
      {stubbed(routes).map(({ route, at, key }) => (
        <Pill key={key} route={route} at={at} here={here?.has(route.wire.event) ?? false} bad={bad?.has(route.wire.event) ?? false} dim={dim?.(route) ?? false} onClick={onPill} onTwice={onPillTwice} />
      ))}
      {routes.map((route) => {
        const first = firsts?.get(route.wire.from.box)
        if (!first || routes.find((each) => each.wire.from.box === route.wire.from.box) !== route) return null
        const at = along(route.points, 0.4)
        return (
          <span key={`first ${route.wire.id}`} className="ev nm onwire" style={{ left: at[0], top: at[1] }}>
            {t('diagram.first', first)}
          </span>
        )
      })}
    </div>
  )
})

/** The pills at both ends of wires that are cut: those of one port or slot once. */
function stubbed(routes: Route[]): { route: Route; at: Point; key: string }[] {
  const found = new Map<string, { route: Route; at: Point; key: string }>()
  for (const route of routes) {
    for (const at of route.stub?.pills ?? []) {
      const key = `stub ${route.wire.event} ${at}`
      if (!found.has(key)) found.set(key, { route, at, key })
    }
  }
  return [...found.values()]
}

function lookOf(route: Route, tone?: (route: Route) => WireTone, dim?: (route: Route) => boolean): string {
  const look = tone?.(route) ?? 'plain'
  const { failed } = route.wire
  return `${failed && look === 'plain' ? 'fl' : ''} ${TONES[look]} ${failed && look !== 'plain' ? 'dash' : ''} ${dim?.(route) ? 'dim' : ''}`
}

/** The wires of one event: only those that changed are drawn anew, for there may be hundreds. */
const EventWires = memo(
  function EventWires({ group, looks, onWire }: { group: Route[]; looks: string; onWire?: (id: string) => void }) {
    const classes = looks.split('|')
    const hovered = useHovered((state) => (group.some((route) => route.wire.event === state.event) ? state.event : null))
    return (
      <g>
        {group.map((route) => (route.wire.failed ? null : <path key={route.wire.id} className="halo" d={shapeOf(route)} />))}
        {group.map((route, at) => (
          <path key={route.wire.id} className={route.wire.event === hovered ? `${classes[at]} linked` : classes[at]} d={shapeOf(route, route.wire.failed ? route.drawn : route.points)} />
        ))}
        {onWire
          ? group.map((route) => (
              // biome-ignore lint/a11y/noStaticElementInteractions: the list of steps and the keys do the same
              <path key={route.wire.id} className="hit" d={shapeOf(route)} {...hovers(route.wire.event)} onClick={() => onWire(route.wire.id)} data-wire={route.wire.id} />
            ))
          : null}
      </g>
    )
  },
  (one, two) => one.looks === two.looks && one.onWire === two.onWire && one.group.length === two.group.length && one.group.every((route, at) => route === two.group[at]),
)

const Pill = memo(function Pill({ route, at, here, bad, dim, onClick, onTwice }: { route: Route; at: Point; here: boolean; bad: boolean; dim: boolean; onClick?: (event: string, wire: string) => void; onTwice?: (event: string) => void }) {
  const { event, outside, id } = route.wire
  const linked = useHovered((state) => state.event === event)
  const classes = `ev onwire ${linked ? 'linked' : ''} ${here ? 'on' : ''} ${bad ? 'badl' : ''} ${outside ? 'x' : ''} ${dim ? 'dim' : ''}`
  const inside = (
    <>
      {outside ? <Icon name="outside" /> : null}
      <span className={`tok ${here || bad ? '' : 'o'}`} />
      <bdi className="ell">{event}</bdi>
    </>
  )
  if (!onClick) {
    return (
      <span className={classes} style={{ left: at[0], top: at[1], maxWidth: route.stub ? undefined : route.room }} title={event} data-pill={event} {...hovers(event)}>
        {inside}
      </span>
    )
  }
  return (
    <button type="button" tabIndex={-1} className={`${classes} nodrag nopan`} style={{ left: at[0], top: at[1], maxWidth: route.stub ? undefined : route.room }} title={event} data-pill={event} {...hovers(event)} onClick={() => onClick(event, id)} onDoubleClick={() => onTwice?.(event)}>
      {inside}
    </button>
  )
})

/** A token on its way over the wires of an event; a new id is a new move. */
export interface Move {
  id: string
  event: string
  /** The step that fires it; without one it comes from outside, or is START. */
  from?: string
  port?: string
  bad?: boolean
}

const MANY = 60

const comesFrom = (wire: Wire, move: Move): boolean => (move.from === undefined ? wire.from.box.startsWith('@') : wire.from.box === move.from && (move.port === undefined || wire.from.port === `out:${move.port}`))

/** Tokens in motion. Above sixty a second single ones cannot be seen: then the pills of their events pulse. */
export function Tokens({ moves, routes, speed = 1 }: { moves: readonly Move[]; routes: Route[]; speed?: number }) {
  const layer = useRef<HTMLDivElement>(null)
  const seen = useRef(new Set<string>())
  const recent = useRef<number[]>([])
  const pulsed = useRef(new Map<string, number>())
  useEffect(() => {
    const element = layer.current
    if (!element) return
    const now = performance.now()
    recent.current = recent.current.filter((at) => now - at < 1000)
    for (const move of moves.filter((each) => !seen.current.has(each.id))) {
      seen.current.add(move.id)
      recent.current.push(now)
      if (recent.current.length > MANY) {
        pulse(element, move.event, pulsed.current)
        continue
      }
      for (const route of routes.filter(({ wire }) => wire.event === move.event && comesFrom(wire, move))) run(element, route.points, move.bad ?? false, speed)
    }
    if (seen.current.size > 5000) seen.current = new Set(moves.map((move) => move.id))
  }, [moves, routes, speed])
  return <div className="tokens" ref={layer} aria-hidden="true" />
}

/** The pill of an event beats once, at most three times a second. */
function pulse(layer: HTMLElement, event: string, last: Map<string, number>): void {
  const now = performance.now()
  if (now - (last.get(event) ?? 0) < 330) return
  last.set(event, now)
  const pill = layer.closest('.react-flow')?.querySelector(`[data-pill="${CSS.escape(event)}"]`)
  pill?.animate([{ boxShadow: '0 0 0 0 var(--accent)' }, { boxShadow: '0 0 0 6px transparent' }], { duration: 300 })
}

function run(layer: HTMLElement, points: Point[], bad: boolean, speed: number): void {
  const calm = matchMedia('(prefers-reduced-motion: reduce)').matches
  const path = pathOf(points)
  const last = points.at(-1) as Point
  for (const [at, ghost] of ['', 'g1', 'g2'].entries()) {
    if (calm && at > 0) return
    const token = document.createElement('span')
    token.className = `tk ${bad ? 'b' : ''} ${ghost} ${calm ? 'arrive' : ''}`
    layer.append(token)
    if (calm) {
      token.style.translate = `${last[0]}px ${last[1]}px`
      setTimeout(() => token.remove(), 200)
      continue
    }
    token.style.offsetPath = `path('${path}')`
    const motion = token.animate([{ offsetDistance: '0%' }, { offsetDistance: '100%' }], { duration: 600 / speed, delay: at * 36, easing: 'cubic-bezier(.2,0,.1,1)', fill: 'both' })
    motion.finished.then(() => token.remove(), () => token.remove())
  }
}
