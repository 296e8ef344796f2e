/** The drawing of a definition: read-only here; the editor gives it hands. */
import '../styles/diagram.css'
import { Background, BackgroundVariant, type Edge, type FitViewOptions, MiniMap, type Node, Panel, ReactFlow, type ReactFlowProps, ReactFlowProvider, ViewportPortal, useReactFlow, useStore, useViewport } from '@xyflow/react'
import { type ReactNode, useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { t, want } from '@/messages'
import { IconButton } from '@/ui/buttons'
import { useLate } from '@/ui/parts'
import { FarContext, NODE_TYPES } from './boxes'
import { type Definition, type Offers, type Point, titleOf } from './definition'
import { type Box, type Graph, graphOf } from './graph'
import { isFirst, laidOut, remembered } from './laid'
import { warm } from './layout'
import { type BoxLook, PLAIN, type StepLook } from './look'
import { type SlotMarking, heldEvents, tokensOf } from './marking'
import { keptPlaces, placesOf, wantsLayout } from './place'
import { type Route, routesOf } from './route'
import { type Move, Tokens, WireLayer, type WireTone } from './wires'

want('diagram')

export interface DiagramProps {
  definition: Definition
  offers?: Offers
  /** The states of the steps of a run, by name. */
  steps?: Record<string, StepLook>
  /** Which events wait in which slots: as `GET /api/runs/{id}/marking` says. */
  marking?: readonly SlotMarking[]
  /** Events that have been fired in this run: their wires are drawn as travelled. */
  travelled?: ReadonlySet<string>
  heat?: Record<string, { share: number; text: string }>
  /** Tokens that begin to move now; each id once. */
  moves?: readonly Move[]
  findings?: readonly { step: string | null; event: string | null; severity: string }[]
  selected?: string | null
  onSelect?: (id: string | null) => void
  children?: ReactNode
  minimap?: boolean
}

// The engine comes while the drawing is fetched: where nothing was laid out yet, it will be wanted.
if (typeof Worker !== 'undefined' && isFirst()) warm()

const NO_MOVES: readonly Move[] = []

/** Read-only, with zoom and tokens. */
export function Diagram(props: DiagramProps) {
  return (
    <ReactFlowProvider>
      <Drawn {...props} />
    </ReactFlowProvider>
  )
}

function Drawn({ definition, offers, steps, marking, travelled, heat, moves = NO_MOVES, findings, selected, onSelect, children, minimap = false }: DiagramProps) {
  const { graph, places } = usePlaced(definition, offers)
  const routes = useMemo(() => (places ? routesOf(graph, places) : []), [graph, places])
  const looks = useMemo(() => looksOf(graph, { steps, marking, heat, findings }), [graph, steps, marking, heat, findings])
  const nodes = useMemo(() => (places ? nodesOf(graph, places, looks, selected ?? null, false) : []), [graph, places, looks, selected])
  const here = useMemo(() => heldEvents(marking), [marking])
  const tone = useMemo(() => toneOf(travelled, findings), [travelled, findings])
  const onNodeClick = useSteady((_event: unknown, node: Node) => onSelect?.(node.id))
  const onPaneClick = useSteady(() => onSelect?.(null))
  if (!places) return <Unplaced />
  return (
    <Canvas label={t('diagram.label', { name: titleOf(definition.name, definition as { title?: string }) })} nodes={nodes} fitKey={definition.name} follows nodesDraggable={false} nodesConnectable={false} elementsSelectable={onSelect !== undefined} onNodeClick={onNodeClick} onPaneClick={onPaneClick}>
      <ViewportPortal>
        <WireLayer routes={routes} tone={tone} here={here} firsts={firstsOf(graph)} />
      </ViewportPortal>
      <TokenPortal>
        <Tokens moves={moves} routes={routes} />
      </TokenPortal>
      <ZoomPanel />
      {minimap ? <Overview /> : null}
      {children}
    </Canvas>
  )
}

/** Grey boxes where the drawing will be, once that takes longer than people wait without a sign. */
export function Unplaced() {
  const late = useLate(true)
  return (
    <div className="canvas cv unplaced" aria-busy="true">
      {late ? [0, 1, 2].map((at) => <span key={at} className="skel" aria-hidden="true" />) : null}
    </div>
  )
}

/** A function that stays the same while what it does changes. */
export function useSteady<A extends unknown[]>(act: (...args: A) => void): (...args: A) => void {
  const latest = useRef(act)
  latest.current = act
  return useCallback((...args: A) => latest.current(...args), [])
}

/** Graph and places of a definition; places come later where all has to be laid out. */
export function usePlaced(definition: Definition, offers?: Offers): { graph: Graph; places: Map<string, Point> | null } {
  const { steps, external, view } = definition
  // Of these alone: a box that was only moved must not make a new graph of all.
  const graph = useMemo(() => graphOf({ penstock: 1, name: '', steps, external }, offers), [steps, external, offers])
  const kept = useMemo(() => keptPlaces(view), [view])
  const wants = wantsLayout(graph, kept)
  const [turn, setTurn] = useState(0)
  // biome-ignore lint/correctness/useExhaustiveDependencies: a turn is a layout that was made
  const known = useMemo(() => (wants ? remembered(graph) : null), [graph, wants, turn])
  const last = useRef<Map<string, Point> | null>(null)
  if (known) last.current = known
  useEffect(() => {
    if (!wants || known) return
    let live = true
    void laidOut(graph).then(() => live && setTurn((now) => now + 1))
    return () => {
      live = false
    }
  }, [wants, known, graph])
  const places = useMemo(() => {
    if (!wants) return placesOf(graph, kept)
    const stood = known ?? last.current
    return stood ? placesOf(graph, stood) : null
  }, [graph, kept, known, wants])
  return { graph, places }
}

export interface LookInputs {
  steps?: Record<string, StepLook>
  marking?: readonly SlotMarking[]
  heat?: Record<string, { share: number; text: string }>
  findings?: readonly { step: string | null; event: string | null; severity: string }[]
}

const WORST = ['error', 'warning', 'info']

export function looksOf(graph: Graph, { steps, marking, heat, findings }: LookInputs): Map<string, BoxLook> {
  const looks = new Map<string, BoxLook>()
  for (const box of graph.boxes) {
    if (box.kind !== 'step' && box.kind !== 'group') continue
    const names = box.kind === 'group' ? box.steps : [box.name]
    const own = findings?.filter((finding) => finding.step !== null && names.includes(finding.step) && finding.severity !== 'info').map((finding) => finding.severity) ?? []
    const finding = WORST.find((severity) => own.includes(severity)) as BoxLook['finding']
    if (box.kind === 'group') {
      if (finding) looks.set(box.id, { finding })
      continue
    }
    const state = steps?.[box.name]
    looks.set(box.id, {
      ...(state ? { state } : {}),
      ...(marking ? { tokens: tokensOf(box, marking) } : {}),
      ...(finding ? { finding } : {}),
      ...(heat?.[box.name] ? { heat: heat[box.name] } : {}),
    })
  }
  return looks
}

const KINDS: Record<Box['kind'], string> = { step: 'step', group: 'fold', outside: 'outside', start: 'edge', end: 'edge', cause: 'edge', unfired: 'loose', unused: 'loose' }

export function nodesOf(graph: Graph, places: Map<string, Point>, looks: Map<string, BoxLook>, selected: string | null, editable: boolean): Node[] {
  return graph.boxes.map((box) => {
    const at = places.get(box.id) ?? [0, 0]
    const look = looks.get(box.id) ?? PLAIN
    return {
      id: box.id,
      type: KINDS[box.kind],
      position: { x: at[0], y: at[1] },
      width: box.width,
      height: box.height,
      selected: selected === box.id,
      data: { box, look, editable },
    }
  })
}

export function toneOf(travelled?: ReadonlySet<string>, findings?: LookInputs['findings']): (route: Route) => WireTone {
  const bad = new Set((findings ?? []).filter((finding) => finding.severity === 'error' && finding.event).map((finding) => finding.event))
  return ({ wire }) => {
    if (bad.has(wire.event) && wire.from.box.startsWith('@unfired')) return 'bad'
    return travelled?.has(wire.event) ? 'travelled' : 'plain'
  }
}

export function firstsOf(graph: Graph): Map<string, { need: number; of: number }> {
  const found = new Map<string, { need: number; of: number }>()
  for (const box of graph.boxes) if (box.kind === 'outside' && box.some) found.set(box.id, box.some)
  return found
}

/** The canvas itself: dots, zoom by wheel, pan by drag. */
export function Canvas({ label, fitKey, follows = false, children, ...rest }: ReactFlowProps & { label: string; fitKey: string; follows?: boolean }) {
  const far = useStore((state) => state.transform[2] < FAR)
  const [filled] = useState((rest.nodes?.length ?? 0) > 0) // a first box must stay where it was dropped
  return (
    <section className={`canvas ${far ? 'far' : ''}`} aria-label={label}>
      <FarContext.Provider value={far}>
      <ReactFlow
        nodeTypes={NODE_TYPES}
        edges={NO_EDGES}
        minZoom={0.1}
        maxZoom={2.5}
        fitView={filled}
        fitViewOptions={FIT}
        proOptions={PRO}
        nodesFocusable={false}
        disableKeyboardA11y
        deleteKeyCode={null}
        selectionKeyCode={null}
        multiSelectionKeyCode="Shift"
        onlyRenderVisibleElements={(rest.nodes?.length ?? 0) > 120}
        {...rest}
      >
        <Background variant={BackgroundVariant.Dots} gap={16} size={2} color="var(--grid)" bgColor="var(--canvas)" />
        <FitOnce on={fitKey} />
        {follows ? <FitAgain /> : null}
        {children}
      </ReactFlow>
      </FarContext.Provider>
    </section>
  )
}

const FAR = 0.4
// The same objects every time: a new one would draw every box anew with each move of the mouse.
const NO_EDGES: Edge[] = []
const MINI = { width: 142, height: 80 }
const PRO = { hideAttribution: true }
const FIT = { maxZoom: 1, padding: 0.06 }

/** All of it in sight, beside what lies over the drawing in a narrow window. */
export function fitting(padding = FIT.padding): FitViewOptions {
  const frame = document.querySelector('.react-flow')?.getBoundingClientRect()
  const over = document.querySelector('.insp')?.getBoundingClientRect()
  const covered = frame && over && over.width > 0 ? frame.right - over.left : 0
  if (!frame || covered <= 0 || covered > frame.width * 0.7) return { maxZoom: FIT.maxZoom, padding }
  const free = `${Math.round(padding * (frame.width - covered))}px` as const
  return { maxZoom: FIT.maxZoom, padding: { top: padding, bottom: padding, left: free, right: `${Math.round(covered) + Number.parseInt(free, 10)}px` } }
}

/** Shows everything when another workflow is opened. */
function FitOnce({ on }: { on: string }) {
  const { fitView, getNodes } = useReactFlow()
  // biome-ignore lint/correctness/useExhaustiveDependencies: only another workflow is a reason
  useEffect(() => {
    if (getNodes().length > 0) void fitView(fitting())
  }, [on])
  return null
}

/** What comes beside the drawing later takes of its room: all of it is shown again, until somebody has moved it. */
function FitAgain() {
  const { fitView, getNodes } = useReactFlow()
  const width = useStore((state) => state.width)
  const height = useStore((state) => state.height)
  const moved = useRef(false)
  const frame = useStore((state) => state.domNode)
  useEffect(() => {
    const touched = () => {
      moved.current = true
    }
    for (const kind of ['pointerdown', 'wheel', 'keydown']) frame?.addEventListener(kind, touched, { capture: true, passive: true })
    return () => {
      for (const kind of ['pointerdown', 'wheel', 'keydown']) frame?.removeEventListener(kind, touched, true)
    }
  }, [frame])
  useEffect(() => {
    if (!moved.current && width > 0 && height > 0 && getNodes().length > 0) void fitView(fitting())
  }, [width, height, fitView, getNodes])
  return null
}

/** What floats above the boxes and moves with them. */
function TokenPortal({ children }: { children: ReactNode }) {
  const { x, y, zoom } = useViewport()
  return (
    <div className="tokens" style={{ transform: `translate(${x}px, ${y}px) scale(${zoom})`, transformOrigin: '0 0' }}>
      {children}
    </div>
  )
}
export { TokenPortal }

export function ZoomPanel({ children }: { children?: ReactNode }) {
  const { zoomIn, zoomOut, zoomTo, fitView } = useReactFlow()
  const { zoom } = useViewport()
  return (
    <Panel position="bottom-left" className="zoom">
      <div className="seg">
        <button type="button" aria-label={t('diagram.zoomOut')} title={`${t('diagram.zoomOut')} (−)`} onClick={() => void zoomOut()}>
          −
        </button>
        <button type="button" title={`${t('diagram.zoomTo')} (0)`} onClick={() => void zoomTo(1)}>
          {Math.round(zoom * 100)} %
        </button>
        <button type="button" aria-label={t('diagram.zoomIn')} title={`${t('diagram.zoomIn')} (+)`} onClick={() => void zoomIn()}>
          +
        </button>
      </div>
      <IconButton icon="fit" kind="plain" label={t('diagram.fit')} keys="1" onClick={() => void fitView(fitting())} />
      {children}
    </Panel>
  )
}

export function Overview() {
  return <MiniMap position="bottom-right" style={MINI} pannable zoomable ariaLabel={t('diagram.minimap')} nodeColor="var(--line-2)" nodeBorderRadius={6} maskColor="color-mix(in srgb, var(--raised) 40%, transparent)" maskStrokeColor="var(--accent)" maskStrokeWidth={2} bgColor="var(--raised)" />
}
