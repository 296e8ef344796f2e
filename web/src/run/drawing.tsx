/** The drawing of a run: states, tokens where they are and on their way; a token can be taken with the mouse. */
import { type PointerEvent, useMemo, useRef } from 'react'
import type { MarkingAt, Stats } from '@/api/operations'
import { useTasks } from '@/api/queries'
import type { Entry, Run } from '@/api/types'
import { type Definition, Diagram, type Move, type Offers, type StepLook, graphOf } from '@/diagram'
import { Panel } from '@xyflow/react'
import { t } from '@/messages'
import { asksPeople } from './facts'
import { Segments, durationText } from '@/ui'
import type { Wanted } from './move'

export type Shown = 'states' | 'time' | 'failures'

/** Above so many events at once none is moved one by one. */
const MOVES = 60

const NONE: Move[] = []

export function useOffers(): Offers | undefined {
  const items = useTasks().data?.items
  return useMemo(() => (items ? (Object.fromEntries(items.map((each) => [each.name, each])) as unknown as Offers) : undefined), [items])
}

export interface DrawingProps {
  run: Run
  definition: Definition
  entries: Entry[]
  latest: Entry[]
  marking: MarkingAt | undefined
  /** The entry that is looked at; null: now. */
  at: number | null
  progress: Record<string, number>
  stats: Stats | undefined
  shown: Shown
  onShown: (shown: Shown) => void
  selected: string | null
  onSelect: (step: string | null) => void
  onMove?: (wanted: Wanted) => void
}

export function Drawing({ run, definition, entries, latest, marking, at, progress, stats, shown, onShown, selected, onSelect, onMove }: DrawingProps) {
  const offers = useOffers()
  const times = useMemo(() => lengths(entries, at), [entries, at])
  const steps = useMemo(() => looks(run, definition, marking, at, progress, times), [run, definition, marking, at, progress, times])
  const names = useMemo(() => JSON.stringify(travelledUntil(entries, at)), [entries, at])
  // The same names are the same set: else every wire would be drawn anew with every entry.
  const travelled = useMemo(() => new Set(JSON.parse(names) as string[]), [names])
  const graph = useMemo(() => graphOf(definition, offers), [definition, offers])
  const moves = useMemo(() => (at === null ? movesOf(latest, graph.boxes) : NONE), [latest, graph, at])
  const heat = useMemo(() => (shown === 'states' || !stats ? undefined : heatOf(stats, shown)), [shown, stats])
  const drag = useTokenDrag(definition, offers, marking, onMove)
  return (
    <div className="grow relative" {...drag}>
      <Diagram definition={definition} offers={offers} steps={steps} marking={marking?.slots} travelled={travelled} moves={moves} heat={heat} selected={selected} onSelect={(id) => onSelect(id !== null && id in definition.steps ? id : null)}>
        <Panel position="bottom-right" className="wide-only">
          <Segments
            size="s"
            label={t('rp.shown')}
            value={shown}
            choices={[
              { value: 'states', label: t('rp.shownStates') },
              { value: 'time', label: t('rp.shownTime') },
              { value: 'failures', label: t('rp.shownFailures') },
            ]}
            onChange={onShown}
          />
        </Panel>
      </Diagram>
    </div>
  )
}

/** The events that have been fired by then. */
function travelledUntil(entries: Entry[], at: number | null): string[] {
  const found = new Set<string>()
  for (const entry of entries) {
    if (at !== null && entry.seq > at) break
    if (entry.kind === 'event' && entry.event) found.add(entry.event)
  }
  return [...found]
}

/** How long the latest firing of each step took. */
function lengths(entries: Entry[], at: number | null): Record<string, number> {
  const begun = new Map<number, number>()
  const found: Record<string, number> = {}
  for (const entry of entries) {
    if (at !== null && entry.seq > at) break
    if (entry.kind === 'fired') begun.set(entry.seq, new Date(entry.at).getTime())
    if (entry.kind === 'ended' && entry.step && entry.firing !== null) {
      const from = begun.get(entry.firing)
      if (from !== undefined) found[entry.step] = new Date(entry.at).getTime() - from
    }
  }
  return found
}

function looks(run: Run, definition: Definition, marking: MarkingAt | undefined, at: number | null, progress: Record<string, number>, times: Record<string, number>): Record<string, StepLook> {
  const found: Record<string, StepLook> = {}
  for (const [name, step] of Object.entries(run.steps)) {
    const then = marking?.steps[name]
    const status = at === null ? step.status : (then?.status ?? step.status)
    const took = times[name]
    found[name] = {
      status,
      firings: at === null ? step.firings : (then?.firings ?? 0),
      attempts: step.attempts,
      progress: at === null ? (progress[name] ?? null) : null,
      ...(asksPeople(definition, name) && status === 'running' ? { text: t('step.asks') } : {}),
      ...(status === 'complete' && took !== undefined && took >= 1 ? { text: `${t('step.complete')} · ${durationText(took)}` } : {}),
    }
  }
  return found
}

function movesOf(latest: Entry[], boxes: { id: string; kind: string; events?: string[] }[]): Move[] {
  const events = latest.filter((entry) => entry.kind === 'event' && entry.event)
  if (events.length === 0 || events.length > MOVES) return NONE
  return events.map((entry) => ({ id: String(entry.seq), event: entry.event ?? '', from: entry.step ?? boxes.find((box) => (entry.event === 'START' ? box.kind === 'start' : box.kind === 'outside' && box.events?.includes(entry.event ?? '')))?.id ?? '' }))
}

export function heatOf(stats: Stats, by: 'time' | 'failures' | 'count'): Record<string, { share: number; text: string }> {
  const value = (name: string): number => {
    const step = stats.steps[name]
    if (!step) return 0
    if (by === 'time') return step.running?.p50 ?? 0
    if (by === 'count') return step.firings
    return step.firings > 0 ? step.failed / step.firings : 0
  }
  const names = Object.keys(stats.steps)
  const most = Math.max(...names.map(value), by === 'failures' ? 0.01 : 0.000_001)
  return Object.fromEntries(
    names.map((name) => {
      const step = stats.steps[name]
      const text = by === 'time' ? t('rp.heatTime', { time: durationText((step?.running?.p50 ?? 0) * 1000), slow: durationText((step?.running?.p95 ?? 0) * 1000) }) : by === 'count' ? t('rp.heatCount', { n: step?.firings ?? 0 }) : t('rp.heatFailed', { n: step?.failed ?? 0, of: step?.firings ?? 0 })
      return [name, { share: value(name) / most, text }]
    }),
  )
}

interface Held {
  from: NonNullable<Wanted['from']>
  ghost: HTMLElement
}

/** A token pressed on its slot and dropped on another; the same can be done with the menu. */
function useTokenDrag(definition: Definition, offers: Offers | undefined, marking: MarkingAt | undefined, onMove?: (wanted: Wanted) => void) {
  const held = useRef<Held | null>(null)
  const place = (target: EventTarget | null): { step: string; slot: number; events: string[] } | null => {
    if (!(target instanceof Element)) return null
    const box = target.closest<HTMLElement>('[data-step]')
    const knob = target.closest('.knob.left')
    const step = box?.dataset.step
    if (!box || step === undefined) return null
    const drawn = graphOf(definition, offers).boxes.find((each) => each.id === step)
    if (drawn?.kind !== 'step') return null
    const at = knob ? [...box.querySelectorAll('.knob.left')].indexOf(knob) : 0
    const pin = drawn.pins[at]
    return pin ? { step, slot: pin.slot, events: pin.events } : null
  }
  if (!onMove) return {}
  return {
    onPointerDownCapture: (event: PointerEvent) => {
      const dot = event.target instanceof Element ? event.target.closest('.knob.left')?.querySelector('.pt.full, .pt.half') : null
      const at = dot ? place(event.target) : null
      const token = at ? marking?.slots.find((slot) => slot.step === at.step && slot.slot === at.slot)?.events.find((each) => at.events.includes(each.event)) : undefined
      if (!at || !token) return
      event.stopPropagation()
      event.preventDefault()
      const ghost = document.createElement('span')
      ghost.className = 'tok dragged'
      document.body.append(ghost)
      held.current = { from: { step: at.step, slot: at.slot, number: token.number }, ghost }
      const follow = (move: globalThis.PointerEvent) => {
        ghost.style.translate = `${move.clientX - 5}px ${move.clientY - 5}px`
      }
      const drop = (up: globalThis.PointerEvent) => {
        globalThis.removeEventListener('pointermove', follow)
        ghost.remove()
        const target = document.elementsFromPoint(up.clientX, up.clientY).map(place).find((each) => each !== null)
        const from = held.current?.from
        held.current = null
        if (!from || !target || (target.step === from.step && target.slot === from.slot)) return
        onMove({ from, to: { step: target.step, slot: target.slot, event: target.events.includes(token.event) ? token.event : (target.events[0] ?? token.event) } })
      }
      globalThis.addEventListener('pointermove', follow)
      globalThis.addEventListener('pointerup', drop, { once: true })
    },
    onMouseDownCapture: (event: React.MouseEvent) => {
      if (held.current) event.stopPropagation()
    },
  }
}
