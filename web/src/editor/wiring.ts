/** Drawing a wire: by dragging from a port, or by a click on one and a click on another. */
import type { OnConnectEnd, OnConnectStartParams } from '@xyflow/react'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import type { BoxActs } from '@/diagram/boxes'
import type { Graph } from '@/diagram/graph'
import { type Spot, connectTo, finderAt } from './acts'
import { type Grip, type Joining, join } from './connecting'
import { hint, unhint } from './hint'
import { useEditor } from './store'

/** Where a wire is being drawn from; from a slot it is drawn backwards. */
interface Drawn {
  grip: Grip
  back: boolean
}

const NOT: Joining = { kind: 'refused', why: { key: 'refuse.direction' } }

/** What a wire to there would be. */
function joined(drawn: Drawn, target: Grip, graph: Graph): Joining {
  const { definition } = useEditor.getState()
  if (!drawn.back) return join(definition, graph, drawn.grip, target)
  return target.port.startsWith('out') ? join(definition, graph, target, drawn.grip) : NOT
}

const same = (one: Grip, two: Grip) => one.box === two.box && one.port === two.port

/** The port or the box under the pointer, and whether there is only the canvas. */
function under(x: number, y: number): { target: Grip | null; open: boolean } {
  const all = document.elementsFromPoint(x, y)
  const port = all.map((each) => each.closest<HTMLElement>('[data-port]')?.dataset.port).find(Boolean)
  const box = all.map((each) => each.closest<HTMLElement>('.react-flow__node:not(.react-flow__node-frame, .react-flow__node-note)')?.dataset.id).find(Boolean)
  const target = port ? { box: port.split('|')[0] as string, port: port.split('|')[1] as string } : box ? { box, port: 'in' } : null
  return { target, open: !target && all.some((each) => each.closest('.react-flow__pane')) }
}

/** The port that a wire is being drawn from, and what the canvas needs to draw it. */
export function useConnecting(graph: Graph) {
  const [drawn, setDrawn] = useState<Drawn | null>(null)
  const latest = useRef(graph)
  latest.current = graph
  const cancel = useCallback(() => setDrawn(null), [])
  const start = useCallback((_event: unknown, { nodeId, handleId, handleType }: OnConnectStartParams) => {
    if (nodeId && handleId) setDrawn({ grip: { box: nodeId, port: handleId }, back: handleType === 'target' })
  }, [])
  const finish = useCallback((from: Drawn, target: Grip, where: Spot) => {
    setDrawn(null)
    if (!from.back) connectTo(from.grip, target, where, latest.current)
    else if (target.port.startsWith('out')) connectTo(target, from.grip, where, latest.current)
    else connectTo(from.grip, target, where, latest.current) // refused: both are slots
  }, [])
  const end = useCallback<OnConnectEnd>(
    (event, state) => {
      const point = 'changedTouches' in event ? event.changedTouches[0] : event
      const begun = state.fromHandle
      if (!point || !begun?.id || !begun.nodeId) return
      const from: Drawn = { grip: { box: begun.nodeId, port: begun.id }, back: begun.type === 'target' }
      const where = { x: point.clientX, y: point.clientY }
      const { target, open } = under(where.x, where.y)
      if (target && same(target, from.grip)) {
        if (from.back) setDrawn(null)
        return
      }
      if (target) finish(from, target, where)
      else {
        setDrawn(null)
        if (open && !from.back) finderAt({ screen: where, from: from.grip })
      }
    },
    [finish],
  )
  const acts = useMemo<BoxActs>(
    () => ({
      onPort: (box, port, event) => {
        event.stopPropagation()
        const where = { x: event.clientX, y: event.clientY }
        if (drawn && !same(drawn.grip, { box, port })) finish(drawn, { box, port }, where)
        else if (port.startsWith('out')) setDrawn(drawn ? null : { grip: { box, port }, back: false })
      },
      accepts: drawn
        ? (box, port) => {
            if (same(drawn.grip, { box, port })) return true
            return port.startsWith('out') === drawn.back && joined(drawn, { box, port }, latest.current).kind !== 'refused'
          }
        : null,
    }),
    [drawn, finish],
  )
  useHints(drawn, latest, cancel)
  return { acts, connecting: drawn && !drawn.back ? drawn.grip : null, start, cancel, end }
}

/** While a wire is drawn: Esc leaves it, and what could not take it says why before it is dropped there. */
function useHints(drawn: Drawn | null, latest: { current: Graph }, cancel: () => void): void {
  useEffect(() => {
    if (!drawn) return
    let before = ''
    const look = ({ clientX, clientY }: PointerEvent) => {
      const { target } = under(clientX, clientY)
      const key = target && !same(target, drawn.grip) ? `${target.box}|${target.port}` : ''
      if (key === before) return
      before = key
      const joining = key && target ? joined(drawn, target, latest.current) : null
      hint(joining?.kind === 'refused' ? joining.why : null, { x: clientX, y: clientY })
    }
    const leave = (event: KeyboardEvent) => event.key === 'Escape' && cancel()
    globalThis.addEventListener('pointermove', look)
    globalThis.addEventListener('keydown', leave)
    return () => {
      globalThis.removeEventListener('pointermove', look)
      globalThis.removeEventListener('keydown', leave)
      unhint()
    }
  }, [drawn, latest, cancel])
}
