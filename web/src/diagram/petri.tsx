/** The same drawing as a Petri net: places are rings, transitions bars; a step is a bar, a place, and one bar a port. */
import type { ReactNode } from 'react'
import type { Definition, Point } from './definition'
import type { Box, Graph, StepBox } from './graph'
import type { SlotMarking } from './marking'
import { type State, enabledSteps } from './net'
import { portAt } from './place'
import { type Route, pathOf } from './route'

export interface PetriProps {
  definition: Definition
  graph: Graph
  places: Map<string, Point>
  routes: Route[]
  marking?: readonly SlotMarking[]
  state: State | null
  onFire?: (step: string) => void
  onEvent?: (event: string) => void
}

const R = 9
/** Letters of a name that is written beside its place: longer ones would run over what stands next to it. */
const LETTERS = 26

/** A name in the drawing; what is cut off is told on hovering. */
function Name({ text, x, y, bold = false }: { text: string; x: number; y: number; bold?: boolean }) {
  const cut = text.length > LETTERS
  return (
    <text className={bold ? 'b' : ''} x={x} y={y}>
      {cut ? `${text.slice(0, LETTERS - 1)}…` : text}
      {cut ? <title>{text}</title> : null}
    </text>
  )
}

export function PetriLayer({ definition, graph, places, routes, marking, state, onFire, onEvent }: PetriProps) {
  const can = new Set(state && onFire ? enabledSteps(definition, state) : [])
  const takers = Map.groupBy(routes, (route) => route.wire.event)
  return (
    <div className="wires petri">
      <svg className="w" aria-hidden="true" focusable="false">
        {routes.map((route) => (
          <Arc key={route.wire.id} route={route} graph={graph} />
        ))}
        {graph.boxes.map((box) => (
          <Net key={box.id} box={box} at={places.get(box.id) ?? [0, 0]} can={can.has(box.id)} state={state} onFire={onFire} onEvent={onEvent} />
        ))}
        {routes.map((route) => {
          const target = graph.boxes.find((box) => box.id === route.wire.to.box)
          if (target?.kind !== 'step') return null
          const alone = (takers.get(route.wire.event)?.length ?? 0) === 1 && route.pill !== null
          const pin = target.pins.find((each) => each.id === route.wire.to.port)
          const slot = marking?.find((each) => each.step === target.name && each.slot === pin?.slot)
          const count = slot?.events.filter((each) => each.event === route.wire.event).length ?? 0
          const [x, y] = alone ? (route.pill as Point) : portAt(target, route.wire.to.port, places.get(target.id) ?? [0, 0])
          return <Place key={route.wire.id} x={alone ? x : x + 1} y={y} r={alone ? R : 7} count={count} label={alone ? route.wire.event : undefined} />
        })}
      </svg>
    </div>
  )
}

function Arc({ route, graph }: { route: Route; graph: Graph }) {
  const last = route.points.at(-1) as Point
  const target = graph.boxes.find((box) => box.id === route.wire.to.box)
  const pin = target?.kind === 'step' ? target.pins.find((each) => each.id === route.wire.to.port) : undefined
  return (
    <g>
      {route.wire.failed ? null : <path className="halo" d={pathOf(route.points)} />}
      <path className={`arc ${route.wire.failed ? 'fl' : ''}`} d={pathOf(route.wire.failed ? route.drawn : route.points)} />
      <Head x={last[0] - 1} y={last[1]} />
      {pin?.label?.kind === 'some' ? (
        <text className="b" x={last[0] - 12} y={last[1] - 6}>
          {pin.label.need}
        </text>
      ) : null}
    </g>
  )
}

const Head = ({ x, y }: { x: number; y: number }) => <path className="head" d={`M${x} ${y} l-6 -3 v6 z`} />

function Place({ x, y, r = R, count = 0, label, bold = false }: { x: number; y: number; r?: number; count?: number; label?: string; bold?: boolean }) {
  return (
    <g>
      <circle className="place" cx={x} cy={y} r={r} />
      {count === 1 ? <circle className="mark" cx={x} cy={y} r={r / 2} /> : null}
      {count > 1 ? (
        <text className="n" x={x} y={y + 4}>
          {count > 9 ? '9+' : count}
        </text>
      ) : null}
      {label ? <Name text={label} x={x} y={y - r - 6} bold={bold} /> : null}
    </g>
  )
}

function Net({ box, at, can, state, onFire, onEvent }: { box: Box; at: Point; can: boolean; state: State | null; onFire?: (step: string) => void; onEvent?: (event: string) => void }): ReactNode {
  const [x, y] = at
  switch (box.kind) {
    case 'step':
      return <StepNet box={box} at={at} can={can} onFire={onFire} />
    case 'outside':
      return (
        <g>
          {box.events.map((event, row) => (
            <OutsideBar key={event} event={event} x={x + box.width - 12} y={y + 32 + 20 * row} onEvent={onEvent} />
          ))}
          {box.some ? <path className="arc" d={`M${x + box.width} ${y + 32} V${y + 32 + 20 * (box.events.length - 1)}`} /> : null}
        </g>
      )
    case 'start':
      return (
        <g>
          <path className="arc" d={`M${x + 17 + R} ${y + 17} H${x + 34}`} />
          <Place x={x + 17} y={y + 17} count={state === null ? 1 : 0} label="START" />
        </g>
      )
    case 'end':
      return <Place x={x + R} y={y + 12} count={state && ((box.name === 'OK' && state.ok) || (box.name === 'FAIL' && state.ending === 'failed')) ? 1 : 0} label={box.name} />
    case 'cause':
      return <OutsideBar event={box.name} x={x + box.width - 8} y={y + 12} />
    case 'group':
      return null // the net has no groups
    default:
      return <Place x={x + (box.kind === 'unused' ? R : box.width - R)} y={y + 9} label={box.event} />
  }
}

function OutsideBar({ event, x, y, onEvent }: { event: string; x: number; y: number; onEvent?: (event: string) => void }) {
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the drawing's own buttons do the same
    <g onClick={onEvent ? () => onEvent(event) : undefined} className={onEvent ? 'cursor-pointer' : ''}>
      <rect className="tbar outside" x={x - 3} y={y - 8} width={6} height={16} />
      <Name text={event} x={x - 56} y={y + 4} />
      <path className="arc" d={`M${x + 3} ${y} H${x + 12}`} />
    </g>
  )
}

function StepNet({ box, at: [x, y], can, onFire }: { box: StepBox; at: Point; can: boolean; onFire?: (step: string) => void }) {
  const middle = y + box.height / 2
  const first = box.pins[0]?.y ?? box.height / 2
  const last = box.pins.at(-1)?.y ?? first
  const centre = x + box.width / 2
  const either = box.join?.kind === 'either'
  const bars = either ? box.pins.map((pin) => ({ top: y + pin.y - 9, height: 18 })) : [{ top: y + first - 12, height: last - first + 24 }]
  return (
    <g>
      <Name text={box.title} x={centre} y={y - 4} bold />
      {bars.map((bar) => (
        // biome-ignore lint/a11y/noStaticElementInteractions: the drawing's own buttons do the same
        <rect key={bar.top} className={`tbar ${can ? 'can' : ''}`} x={x + 14} y={bar.top} width={5} height={bar.height} onClick={can ? () => onFire?.(box.name) : undefined} />
      ))}
      {bars.map((bar) => (
        <path key={bar.top} className="arc" d={pathOf([[x + 19, bar.top + bar.height / 2], [x + 30, bar.top + bar.height / 2], [x + 30, middle], [centre - R, middle]])} />
      ))}
      {box.pins.map((pin) => (
        <path key={pin.id} className="arc" d={`M${x + 8} ${y + pin.y} H${x + 14}`} />
      ))}
      <Head x={centre - R} y={middle} />
      <Place x={centre} y={middle} />
      {box.ports.map((port) => (
        <g key={port.id}>
          <path className="arc" d={pathOf([[centre + R, middle], [x + box.width - 34, middle], [x + box.width - 34, y + port.y], [x + box.width - 20, y + port.y]])} />
          <rect className="tbar" x={x + box.width - 20} y={y + port.y - 8} width={5} height={16} />
          <path className={`arc ${port.failed ? 'fl' : ''}`} d={`M${x + box.width - 15} ${y + port.y} H${x + box.width}`} />
        </g>
      ))}
    </g>
  )
}
