/** Lays everything out from left to right; the engine for it is large, so it is loaded when it is first wanted. */
import type { Point } from './definition'
import type { Box, Graph } from './graph'
import { portAt } from './place'

interface ElkNode {
  id: string
  x?: number
  y?: number
  children?: ElkNode[]
  [key: string]: unknown
}
interface Elk {
  layout(graph: ElkNode): Promise<ElkNode>
}

let engine: Promise<Elk> | undefined

async function loaded(): Promise<Elk> {
  const [{ default: ELK }, { default: Engine }] = await Promise.all([import('elkjs/lib/elk-api.js'), import('elkjs/lib/elk-worker.min.js?worker')])
  return new ELK({ workerFactory: () => new Engine() }) as unknown as Elk
}

/** Fetches the engine before it is wanted. */
export function warm(): void {
  engine ??= loaded()
  engine.catch(() => undefined) // whoever wants it is told
}

const OPTIONS = {
  'elk.algorithm': 'layered',
  'elk.direction': 'RIGHT',
  'elk.edgeRouting': 'ORTHOGONAL',
  'elk.layered.spacing.nodeNodeBetweenLayers': '38',
  'elk.spacing.nodeNode': '32',
  'elk.spacing.edgeNode': '14',
  'elk.layered.spacing.edgeNodeBetweenLayers': '14',
  'elk.layered.nodePlacement.strategy': 'BRANDES_KOEPF',
  'elk.layered.nodePlacement.bk.fixedAlignment': 'BALANCED',
  'elk.layered.considerModelOrder.strategy': 'NODES_AND_EDGES',
  'elk.layered.crossingMinimization.forceNodeModelOrder': 'false',
  'elk.padding': '[top=36,left=16,bottom=24,right=16]',
  'elk.separateConnectedComponents': 'false',
}

/** A place for every box that is wide enough for its wires and pills. */
export async function layOut(graph: Graph): Promise<Map<string, Point>> {
  engine ??= loaded()
  const elk = await engine
  const boxes = graph.boxes
  const laid = await elk.layout({
    id: 'root',
    layoutOptions: OPTIONS,
    children: boxes.map(nodeOf),
    edges: graph.wires.map((wire) => ({
      id: wire.id,
      sources: [`${wire.from.box}/${wire.from.port}`],
      targets: [`${wire.to.box}/${wire.to.port}`],
      labels: wire.pill ? [{ id: `${wire.id}/pill`, text: wire.pill, width: Math.min(140, wire.pill.length * 6 + 30), height: 18 }] : [],
      layoutOptions: { 'elk.layered.priority.direction': wire.failed ? '0' : '5', 'elk.layered.priority.straightness': wire.failed ? '0' : '10' },
    })),
  })
  const places = new Map<string, Point>()
  for (const node of laid.children ?? []) places.set(node.id, [Math.round((node.x ?? 0) / 4) * 4, Math.round((node.y ?? 0) / 4) * 4])
  return straightened(graph, places)
}

const JOG = 18

/** Moves boxes a little where that makes a wire straight: a small step in a line looks like a mistake. */
function straightened(graph: Graph, places: Map<string, Point>): Map<string, Point> {
  const byId = new Map(graph.boxes.map((box) => [box.id, box]))
  const ordered = [...graph.boxes].sort((one, two) => (places.get(one.id)?.[0] ?? 0) - (places.get(two.id)?.[0] ?? 0))
  for (const box of ordered) {
    const at = places.get(box.id)
    if (!at) continue
    const jogs = graph.wires
      .filter((wire) => wire.to.box === box.id && wire.from.box !== box.id && (!wire.failed || box.kind !== 'step'))
      .map((wire) => portAt(byId.get(wire.from.box) as Box, wire.from.port, places.get(wire.from.box) as Point)[1] - portAt(box, wire.to.port, at)[1])
      .sort((one, two) => Math.abs(one) - Math.abs(two))
    const jog = jogs[0]
    if (jog === undefined || jog === 0 || Math.abs(jog) > JOG) continue
    const moved: Point = [at[0], at[1] + jog]
    const clear = ordered.every((other) => other === box || apart(box, moved, other, places.get(other.id) as Point))
    if (clear) places.set(box.id, moved)
  }
  return places
}

function apart(one: Box, at: Point, two: Box, there: Point): boolean {
  return at[0] > there[0] + two.width + 8 || there[0] > at[0] + one.width + 8 || at[1] > there[1] + two.height + 12 || there[1] > at[1] + one.height + 12
}

function nodeOf(box: Box): ElkNode {
  const ends = box.kind === 'step' || box.kind === 'group' ? [...box.pins.map((pin) => pin.id), ...box.ports.map((port) => port.id)] : box.kind === 'outside' ? box.ports.map((port) => port.id) : ['in0', 'out:done']
  return {
    id: box.id,
    width: box.width,
    height: box.height,
    layoutOptions: { 'elk.portConstraints': 'FIXED_POS', ...(box.kind === 'start' ? { 'elk.layered.layering.layerConstraint': 'FIRST' } : {}) },
    ports: ends.map((port) => {
      const [x, y] = portAt(box, port, [0, 0])
      return { id: `${box.id}/${port}`, x, y, width: 0, height: 0, layoutOptions: { 'elk.port.side': port.startsWith('in') ? 'WEST' : 'EAST' } }
    }),
  }
}
