/** The canvas of the editor: boxes are dragged, wired, inserted; all of it is edits of the definition. */
import { type Node, type NodeChange, SelectionMode, type Viewport, ViewportPortal, applyNodeChanges, useReactFlow } from '@xyflow/react'
import { type DragEvent, type MouseEvent, useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { type BoxActs, BoxActsContext } from '@/diagram/boxes'
import { type Group, type Point, emitsOf, portsOf, slotsOf, titleOf } from '@/diagram/definition'
import { Canvas, Overview, TokenPortal, Unplaced, ZoomPanel, firstsOf, fitting, looksOf, nodesOf, usePlaced, useSteady } from '@/diagram/diagram'
import { folded } from '@/diagram/fold'
import type { Box, Graph } from '@/diagram/graph'
import { layOut } from '@/diagram/layout'
import type { BoxLook } from '@/diagram/look'
import { heldEvents } from '@/diagram/marking'
import { type Frame, enabledSteps, markingOf } from '@/diagram/net'
import { PetriLayer } from '@/diagram/petri'
import { gameEvent, gameFire, usePlayer } from '@/diagram/player'
import { type Route, plain, routesOf } from '@/diagram/route'
import { portAt } from '@/diagram/place'
import { Tokens, WireLayer, type WireTone } from '@/diagram/wires'
import { t } from '@/messages'
import { IconButton } from '@/ui/buttons'
import { choose } from './chooser'
import { edit, findingsOf, select, useEditor } from './store'
import { insertInto } from './connecting'
import { type Edit, placeAll } from './document'
import { addOutside, addTask, connectTo, editDrawn, foldGroup, moveTo, noteAt, renameEventAsk } from './acts'
import { type Guide, useGuides } from './guides'
import { looksNow, useTrying } from './try/running'
import { Tree } from './tree'
import { NOTE, canvas, focusMove, setCanvas } from './view'
import { startRenaming, useRenaming } from './naming'
import { useConnecting } from './wiring'

const SNAP: [number, number] = [16, 16]
const PAN = [1, 2]

export function EditorCanvas() {
  const definition = useEditor((state) => state.definition)
  const offers = useEditor((state) => state.offers)
  const selection = useEditor((state) => state.selection)
  const findings = useEditor(findingsOf)
  const mode = useEditor((state) => state.mode)
  const readOnly = useEditor((state) => state.readOnly)
  const whole = usePlaced(definition, offers)
  const player = usePlayer()
  const { graph, places } = useFolded(whole, mode === 'diagram' && player.title === null)
  const frame = player.frames[player.at]
  const marking = useMemo(() => (frame ? markingOf(definition, frame.state) : undefined), [frame, definition])
  const path = useMemo(() => pathOf(player.frames), [player.frames])
  const trying = useTrying()
  const tried = useMemo(() => looksNow(trying, definition), [trying, definition])
  const looks = useMemo(() => {
    const found = looksOf(graph, { findings, marking, steps: frame ? undefined : tried })
    return frame ? played(found, graph, player.game ? enabledSteps(definition, frame.state) : [], player.game ? null : path, player.bad) : found
  }, [graph, findings, marking, tried, frame, player.game, player.bad, path, definition])
  const chosen = useMemo(() => new Set(selection), [selection])
  const model = useMemo(() => (places ? [...framesOf(definition, graph, places, chosen), ...nodesOf(graph, places, looks, null, !readOnly).map((node) => ({ ...node, selected: chosen.has(node.id) })), ...notesOf(definition, chosen)] : []), [graph, places, looks, definition, chosen, readOnly])
  const [nodes, setNodes] = useState<Node[]>(model)
  useEffect(() => setNodes((now) => merged(now, model)), [model])
  const flow = useReactFlow()
  const notes = definition.view?.notes
  useEffect(() => setCanvas({ flow, graph: whole.graph, shown: graph, places, notes: notes ?? {} }), [flow, whole.graph, graph, places, notes])

  const base = useMemo(() => (places ? routesOf(graph, places) : []), [graph, places])
  const [dragged, setDragged] = useState<ReadonlyMap<string, Point> | null>(null)
  const routes = useMemo(() => (dragged && places ? following(base, graph, new Map([...places, ...dragged]), dragged) : base), [base, dragged, graph, places])

  const guides = useGuides(graph, places)
  const { lined } = guides
  const onNodesChange = useCallback((changes: NodeChange[]) => {
    const drawn = lined(changes)
    setNodes((now) => applyNodeChanges(drawn, now))
    const picked = changes.filter((change) => change.type === 'select')
    if (picked.length === 0) return
    const now = new Set(useEditor.getState().selection.filter((id) => !id.startsWith('wire:')))
    for (const change of picked) {
      if (change.selected) now.add(change.id)
      else now.delete(change.id)
    }
    select(...now)
  }, [lined])

  const { acts, connecting, start, cancel, end } = useConnecting(whole.graph)
  const boxActs = useMemo<BoxActs>(
    () => ({
      ...acts,
      onBadge: (box) => {
        select(box)
        useEditor.setState({ panel: 'problems' })
      },
      onFire: (box) => firePort(box),
      ...(readOnly ? {} : { onFold: foldGroup }),
      ...(player.game ? { onEvent: (event: string) => gameEvent(useEditor.getState().definition, event) } : {}),
      renaming: null,
    }),
    [acts, player.game, readOnly],
  )
  const renaming = useRenaming()
  const value = useMemo(() => ({ ...boxActs, ...renaming }), [boxActs, renaming])
  const tone = useMemo(() => toneOf(findings, path, player.title !== null && !player.game, player.bad, chosen), [findings, path, player.title, player.game, player.bad, chosen])
  const dim = useMemo(() => (player.title !== null && !player.game ? (route: Route) => !onPath(path, route.wire) : undefined), [player.title, player.game, path])
  const here = useMemo(() => heldEvents(marking), [marking])
  const bad = useMemo(() => new Set(findings.filter((finding) => finding.severity === 'error').flatMap((finding) => (finding.event ? [finding.event] : []))), [findings])
  const firsts = useMemo(() => firstsOf(graph), [graph])
  const onWire = useCallback((id: string) => select(`wire:${id}`), [])
  const onPill = useCallback((_event: string, wire: string) => select(`wire:${wire}`), [])
  const onPillTwice = useCallback((event: string) => renameEventAsk(event), [])

  const onNodeDrag = useSteady((_event: unknown, _node: unknown, moving: Node[]) => setDragged(new Map(guides.moved(moving).map((each) => [each.id, [each.position.x, each.position.y]]))))
  const onNodeDragStop = useSteady((event: unknown, _node: unknown, moving: Node[]) => {
    setDragged(null)
    dropNodes(guides.moved(moving), event as MouseEvent)
    guides.end()
  })
  const onPaneClick = useSteady(() => {
    cancel()
    select()
  })
  const onNodeClick = useSteady((event: MouseEvent, node: Node) => {
    if (!connecting) return
    connectTo(connecting, { box: node.id, port: 'in' }, { x: event.clientX, y: event.clientY }, whole.graph)
    cancel()
  })
  const onNodeDoubleClick = useSteady((_event: unknown, node: Node) => startRenaming(node.id))
  const onDragOver = useSteady((event: DragEvent) => {
    event.preventDefault()
    event.dataTransfer.dropEffect = 'copy'
  })
  const onDrop = useSteady((event: DragEvent) => dropTask(event, flow.screenToFlowPosition({ x: event.clientX, y: event.clientY })))

  useFollowing(player.title, player.game, graph.boxes.filter((box) => inPath(box, path)))

  if (!places) return <Unplaced />
  const empty = graph.boxes.length === 0
  return (
    <BoxActsContext.Provider value={value}>
      <Canvas
        label={t('diagram.label', { name: titleOf(definition.name, definition as { title?: string }) })}
        fitKey={definition.name}
        nodes={nodes.length === 0 ? model : nodes}
        onNodesChange={onNodesChange}
        nodesDraggable={!readOnly && !player.game}
        nodesConnectable={!readOnly && !player.game}
        snapToGrid
        snapGrid={SNAP}
        selectionOnDrag
        selectionMode={SelectionMode.Partial}
        panOnDrag={PAN}
        panActivationKeyCode="Space"
        connectOnClick={false}
        connectionRadius={0}
        onConnectStart={start}
        onConnectEnd={end}
        onNodeDrag={onNodeDrag}
        onNodeDragStop={onNodeDragStop}
        onPaneClick={onPaneClick}
        onNodeClick={onNodeClick}
        onNodeDoubleClick={onNodeDoubleClick}
        onDragOver={onDragOver}
        onDrop={onDrop}
      >
        <ViewportPortal>
          {mode === 'petri' ? <PetriLayer definition={definition} graph={graph} places={places} routes={base} marking={marking} state={frame?.state ?? null} onFire={player.game ? firePort : undefined} onEvent={player.game ? (event) => gameEvent(definition, event) : undefined} /> : <WireLayer routes={routes} tone={tone} dim={dim} here={here} bad={bad} onWire={onWire} onPill={onPill} onPillTwice={readOnly ? undefined : onPillTwice} firsts={firsts} />}
        </ViewportPortal>
        <TokenPortal>
          <Guides lines={guides.lines} />
          <Tokens moves={player.moves} routes={base} speed={player.speed} />
        </TokenPortal>
        <ZoomPanel>
          <IconButton icon="tidy" kind="plain" label={t('diagram.tidy')} keys="L" onClick={() => void tidy(whole.graph)} />
        </ZoomPanel>
        <Overview />
        {empty ? (
          <div className="emptycanvas">
            <b>{t('editor.empty')}</b>
            <div className="mut t12">{t('editor.emptyDetail')}</div>
          </div>
        ) : null}
      </Canvas>
      <Tree graph={graph} places={places} looks={looks} notes={notes} />
    </BoxActsContext.Provider>
  )
}

/** The drawing with its folded groups; one with a selected step is open, and all are while a trace is played. */
function useFolded(whole: ReturnType<typeof usePlaced>, may: boolean): ReturnType<typeof usePlaced> {
  const groups = useEditor((state) => state.definition.view?.groups)
  const selection = useEditor((state) => state.selection)
  const { graph, places } = whole
  const shut = Object.entries(groups ?? {}).filter(([, group]) => may && group.folded && !group.steps.some((step) => selection.includes(step)))
  const key = JSON.stringify(shut)
  return useMemo(() => (places ? folded(graph, places, JSON.parse(key) as [string, Group][]) : { graph, places }), [graph, places, key])
}

/** The lines on which what is dragged stands. */
function Guides({ lines }: { lines: Guide[] }) {
  if (lines.length === 0) return null
  return (
    <svg className="guides" aria-hidden="true" focusable="false">
      {lines.map(({ axis, at, from, to }) => (
        <path key={`${axis}${at}`} d={axis === 'x' ? `M${at} ${from - 8}V${to + 8}` : `M${from - 8} ${at}H${to + 8}`} />
      ))}
    </svg>
  )
}

/** What is played is brought into sight; when it ends, what was seen before is seen again. */
function useFollowing(title: string | null, game: boolean, played: Box[]): void {
  const flow = useReactFlow()
  const before = useRef<Viewport | null>(null)
  const latest = useRef(played)
  latest.current = played
  useEffect(() => {
    if (title !== null && !game) {
      before.current ??= flow.getViewport()
      const shown = latest.current.map(({ id }) => ({ id }))
      if (shown.length > 0) void flow.fitView({ ...fitting(0.25), nodes: shown, maxZoom: Math.max(1, flow.getZoom()), duration: 250 })
    } else if (before.current) {
      void flow.setViewport(before.current, { duration: 200 })
      before.current = null
    }
  }, [title, game, flow])
}

/** Boxes whose place and look are the same stay the same objects: nothing of them is drawn anew. */
function merged(now: Node[], model: Node[]): Node[] {
  const known = new Map(now.map((node) => [node.id, node]))
  return model.map((node) => {
    const old = known.get(node.id)
    if (!old || old.type !== node.type) return node
    const same = old.position.x === node.position.x && old.position.y === node.position.y && old.selected === node.selected && old.width === node.width && old.height === node.height && alike(old.data, node.data)
    return same ? old : { ...old, ...node }
  })
}

function alike(one: Record<string, unknown>, two: Record<string, unknown>): boolean {
  return Object.keys(two).every((key) => one[key] === two[key] || JSON.stringify(one[key]) === JSON.stringify(two[key]))
}

/** The wires of what is being dragged, drawn plainly; all others stay as they are. */
function following(base: Route[], graph: Graph, places: Map<string, Point>, dragged: ReadonlyMap<string, Point>): Route[] {
  const byId = new Map(graph.boxes.map((box) => [box.id, box]))
  return base.map((route) => {
    const { from, to } = route.wire
    if (!dragged.has(from.box) && !dragged.has(to.box)) return route
    const [source, target] = [byId.get(from.box), byId.get(to.box)]
    if (!source || !target) return route
    const points = plain(portAt(source, from.port, places.get(from.box) as Point), portAt(target, to.port, places.get(to.box) as Point))
    return { ...route, stub: undefined, points, drawn: points, pill: route.pill ? ([((points[0] as Point)[0] + (points[1] as Point)[0]) / 2, (points[0] as Point)[1]] as Point) : null }
  })
}

interface Path {
  steps: Set<string>
  events: Set<string>
  wires: Set<string>
}

/** The steps that fire in what is played, and the wires over which their events go. */
function pathOf(frames: Frame[]): Path {
  const moves = frames.flatMap((frame) => frame.moves)
  return {
    steps: new Set(frames.flatMap((frame) => (frame.step ? [frame.step] : []))),
    events: new Set(moves.map((move) => move.event)),
    wires: new Set(moves.map((move) => `${move.event}|${move.from ?? '@'}|${move.port ?? ''}`)),
  }
}

function onPath({ wires }: Path, { event, from }: Route['wire']): boolean {
  return wires.has(from.box.startsWith('@') ? `${event}|@|` : `${event}|${from.box}|${from.port.slice(4)}`)
}

function played(looks: Map<string, BoxLook>, graph: Graph, playable: string[], path: Path | null, bad: boolean): Map<string, BoxLook> {
  const found = new Map(looks)
  for (const box of graph.boxes) {
    const look = looks.get(box.id) ?? {}
    const off = path !== null && !inPath(box, path) && Object.keys(look.tokens ?? {}).length === 0
    const tokens = bad && look.tokens ? Object.fromEntries(Object.entries(look.tokens).map(([pin, held]) => [pin, { ...held, bad: true }])) : look.tokens
    found.set(box.id, { ...look, ...(tokens ? { tokens } : {}), dim: off, playable: playable.includes(box.id) })
  }
  return found
}

function inPath(box: Box, path: Path): boolean {
  if (box.kind === 'step') return path.steps.has(box.id)
  if (box.kind === 'outside') return box.events.some((event) => path.events.has(event))
  if (box.kind === 'group') return box.steps.some((step) => path.steps.has(step))
  return path.events.has('event' in box ? box.event : box.name)
}

function toneOf(findings: readonly { severity: string; event: string | null }[], path: Path, playing: boolean, bad: boolean, chosen: Set<string>): (route: Route) => WireTone {
  const wrong = new Set(findings.filter((finding) => finding.severity === 'error').map((finding) => finding.event))
  return ({ wire }) => {
    if (chosen.has(`wire:${wire.id}`)) return 'selected'
    if (playing && onPath(path, wire)) return bad ? 'bad' : 'played'
    return wrong.has(wire.event) && wire.from.box.startsWith('@unfired') ? 'bad' : 'plain'
  }
}

function notesOf(definition: ReturnType<typeof useEditor.getState>['definition'], chosen: Set<string>): Node[] {
  return Object.entries(definition.view?.notes ?? {}).map(([id, note]) => ({ id: `note:${id}`, type: 'note', position: { x: note.at[0], y: note.at[1] }, selected: chosen.has(`note:${id}`), data: { note: { id, text: note.text, size: note.size ?? NOTE } } }))
}

const PAD = 14

/** The frames of groups: around their steps, behind everything. */
function framesOf(definition: ReturnType<typeof useEditor.getState>['definition'], graph: Graph, places: Map<string, Point>, chosen: Set<string>): Node[] {
  return Object.entries(definition.view?.groups ?? {}).flatMap(([id, group]) => {
    const inside = graph.boxes.filter((box) => group.steps.includes(box.id) && places.has(box.id))
    if (inside.length === 0) return [] // also where it is folded
    const at = inside.map((box) => ({ box, place: places.get(box.id) as Point }))
    const left = Math.min(...at.map(({ place }) => place[0])) - PAD
    const top = Math.min(...at.map(({ place }) => place[1])) - PAD - 12
    const right = Math.max(...at.map(({ box, place }) => place[0] + box.width)) + PAD
    const bottom = Math.max(...at.map(({ box, place }) => place[1] + box.height)) + PAD
    return [{ id: `group:${id}`, type: 'frame', position: { x: left, y: top }, width: right - left, height: bottom - top, draggable: false, zIndex: -2, selected: chosen.has(`group:${id}`), data: { title: group.title, size: [right - left, bottom - top] } }]
  })
}

// -- dropping ------------------------------------------------------------------------------------------------

/** One edit for what was dragged: a single box that hangs on nothing and is dropped on a wire is inserted there. */
function dropNodes(moving: Node[], event: MouseEvent): void {
  const single = moving.length === 1 ? moving[0] : undefined
  const wire = single && isLoose(single.id) ? wireUnder(event.clientX, event.clientY) : undefined
  const graph = canvas()?.graph
  const moves: Edit = (definition) => moving.reduce((made, { id, position }) => moveTo(id, [position.x, position.y])(made), definition)
  if (!single || !wire || !graph) editDrawn(t('did.move'), moves)
  else editDrawn(t('did.add', { name: single.id }), (definition) => insertInto(graph, wire, single.id, useEditor.getState().offers)(moves(definition)))
}

function isLoose(id: string): boolean {
  const { definition } = useEditor.getState()
  const step = definition.steps[id]
  if (!step || step.after !== undefined || Object.keys(emitsOf(step)).length > 0) return false
  return !Object.values(definition.steps).some((other) => slotsOf(other).some((slot) => slot.events.includes(id)))
}

const wireUnder = (x: number, y: number): string | undefined => document.elementsFromPoint(x, y).map((each) => (each as SVGElement).dataset?.wire).find(Boolean)

function dropTask(event: DragEvent, at: { x: number; y: number }): void {
  const text = event.dataTransfer.getData('application/x-penstock-box')
  if (!text) return
  event.preventDefault()
  const place: Point = [Math.round((at.x - 72) / 16) * 16, Math.round((at.y - 25) / 16) * 16]
  if (text === '@outside') addOutside()
  else if (text === '@note') noteAt([at.x, at.y])
  else addTask(text, { at: place, onWire: wireUnder(event.clientX, event.clientY) })
}

/** Lays everything out anew, in one edit that can be undone. */
export async function tidy(graph: Graph): Promise<void> {
  const places = await layOut(graph)
  document.querySelector('.edcanvas')?.classList.add('tidying')
  edit(t('did.tidy'), placeAll([...places].filter(([id]) => !id.startsWith('@unused') && !id.startsWith('@unfired'))))
  setTimeout(() => document.querySelector('.edcanvas')?.classList.remove('tidying'), 300)
}

function firePort(box: string): void {
  const { definition, offers } = useEditor.getState()
  const step = definition.steps[box]
  if (!step) return
  const ports = portsOf(step, offers)
  const fire = (port: string) => {
    gameFire(definition, box, port)
    setTimeout(focusMove, 120) // the button that was pressed is gone by then
  }
  if (ports.length <= 1) fire(ports[0] ?? 'done')
  else choose({ title: t('diagram.firePort', { step: titleOf(box, step) }), choices: ports.map((port) => ({ id: port, label: port, icon: port === 'failed' ? 'failed' : 'check', run: () => fire(port) })) })
}
