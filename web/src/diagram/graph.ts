/** From a definition to what is drawn: boxes with pins and ports, and the wires between them. Sizes are those of the design. */
import { type Definition, ENDS, type Offers, type Slot, type Step, emitsOf, externalsOf, firedBy, portsOf, slotsOf, startsAtOnce, titleOf } from './definition'

/** Where wires end at the left edge of a box. */
export interface Pin {
  id: string
  slot: number
  events: string[]
  y: number
  label?: { kind: 'either' } | { kind: 'some'; need: number; of: number }
}

/** Where wires begin at the right edge of a box. */
export interface Port {
  id: string
  name: string
  y: number
  failed: boolean
  named: boolean
}

export interface Join {
  kind: 'all' | 'either' | 'some'
  count: number
  need: number
}

export interface StepBox {
  kind: 'step'
  id: string
  step: Step
  name: string
  title: string
  task: string
  pins: Pin[]
  ports: Port[]
  join: Join | null
  /** It begins as soon as a run does. */
  starts: boolean
  disabled: boolean
  width: number
  height: number
}

export interface OutsideBox {
  kind: 'outside'
  id: string
  events: string[]
  ports: Port[]
  some: { need: number; of: number } | null
  width: number
  height: number
}

export interface EdgeBox {
  kind: 'start' | 'end' | 'cause'
  id: string
  name: string
  width: number
  height: number
}

/** An event that nothing fires, or that nothing waits for: a pill with an open end. */
export interface LooseBox {
  kind: 'unfired' | 'unused'
  id: string
  event: string
  at: { box: string; port: string }
  width: number
  height: number
}

/** A group that is folded: its steps as one box. */
export interface GroupBox {
  kind: 'group'
  id: string
  title: string
  steps: string[]
  pins: Pin[]
  ports: Port[]
  width: number
  height: number
}

export type Box = StepBox | OutsideBox | EdgeBox | LooseBox | GroupBox

export interface End {
  box: string
  port: string
}

export interface Wire {
  id: string
  event: string
  from: End
  to: End
  failed: boolean
  pill: string | null
  outside: boolean
  /** Wires of one bundle are drawn as one. */
  bundle: string
}

export interface Graph {
  boxes: Box[]
  wires: Wire[]
}

export const START = '@START'
export const OUTSIDE = '@outside'
export const endId = (name: string) => `@${name}`

const WIDTH = 144
const JOINED = 156

/** Sizes follow from what a box says: one pin in the middle, several below its head, named ports beside its second line. */
function stepBox(name: string, step: Step, offers: Offers): StepBox {
  const slots = slotsOf(step)
  const single = slots.length === 1 ? slots[0] : undefined
  const spread = single && single.kind !== 'one'
  const rows: { slot: number; events: string[]; label?: Pin['label'] }[] = spread
    ? single.events.map((event) => ({ slot: 0, events: [event] }))
    : slots.map((slot, at) => ({ slot: at, events: slot.events, label: labelOf(slot) })).sort((one, two) => Number(!!one.label) - Number(!!two.label))
  const join: Join | null = spread
    ? { kind: single.kind === 'either' ? 'either' : 'some', count: single.events.length, need: single.need }
    : slots.length > 1
      ? { kind: 'all', count: slots.length, need: slots.length }
      : null
  const names = portsOf(step, offers)
  const named = names.some((port) => port !== 'done' && port !== 'failed')
  let height = join ? 24 + 22 * rows.length : 50
  if (named) height = Math.max(height, 33 + 18 * (names.length - 1) + 13)
  const pins = rows.map((row, at): Pin => ({ id: `in${at}`, slot: row.slot, events: row.events, y: join ? 28 + 22 * at : height / 2, label: row.label }))
  return {
    kind: 'step',
    id: name,
    step,
    name,
    title: titleOf(name, step),
    task: step.task ?? '',
    pins,
    ports: names.map((port, at) => ({ id: `out:${port}`, name: port, y: portY(at, names.length, height, named, join !== null), failed: port === 'failed', named: port !== 'done' && port !== 'failed' })),
    join,
    starts: startsAtOnce(step),
    disabled: step.disabled !== undefined && step.disabled !== false,
    width: join ? JOINED : WIDTH,
    height,
  }
}

function labelOf(slot: Slot): Pin['label'] {
  if (slot.kind === 'either') return { kind: 'either' }
  return slot.kind === 'some' ? { kind: 'some', need: slot.need, of: slot.events.length } : undefined
}

function portY(at: number, count: number, height: number, named: boolean, joined: boolean): number {
  if (named) return 33 + 18 * at
  if (count === 1) return height / 2
  if (joined && count === 2) return at === 0 ? Math.round(height * 0.32) : height - 17
  return 16 + 20 * at
}

/** Those outside events that only feed one "n of m" stand in a frame of their own. */
function outsideBoxes(definition: Definition, takers: Map<string, End[]>, boxes: Map<string, StepBox>): OutsideBox[] {
  const left = new Set(externalsOf(definition))
  const made: OutsideBox[] = []
  for (const box of boxes.values()) {
    for (const slot of slotsOf(box.step)) {
      const alone = slot.kind === 'some' && slot.events.every((event) => left.has(event) && (takers.get(event)?.length ?? 0) === 1)
      if (!alone || box.join?.kind !== 'all') continue
      for (const event of slot.events) left.delete(event)
      const height = 24 + 20 * slot.events.length
      made.push({
        kind: 'outside',
        id: `${OUTSIDE}:${slot.events[0]}`,
        events: slot.events,
        some: { need: slot.need, of: slot.events.length },
        ports: [{ id: 'out:all', name: slot.events.join(' '), y: height / 2 + 6, failed: false, named: false }],
        width: WIDTH,
        height,
      })
    }
  }
  if (left.size > 0) {
    const events = [...left]
    made.unshift({
      kind: 'outside',
      id: OUTSIDE,
      events,
      some: null,
      ports: events.map((event, at) => ({ id: `out:${event}`, name: event, y: 32 + 20 * at, failed: false, named: false })),
      width: WIDTH,
      height: 24 + 20 * events.length,
    })
  }
  return made
}

/** What is drawn. Two calls with the same definition give the same. */
export function graphOf(definition: Definition, offers: Offers = {}): Graph {
  const steps = new Map(Object.entries(definition.steps).map(([name, step]) => [name, stepBox(name, step ?? {}, offers)]))
  const takers = takersOf(steps)
  const outsides = outsideBoxes(definition, takers, steps)
  const drawn = new Drawing(takers)
  for (const box of steps.values()) drawn.fires(box)
  for (const box of outsides) drawn.comes(box)
  if (takers.has('START')) drawn.begins()
  for (const cause of ['CANCEL', 'TIMEOUT', 'FAIL']) if (takers.has(cause) && (cause !== 'FAIL' || !drawn.fired.has(cause))) drawn.causes(cause)
  for (const [event, ends] of takers) if (!drawn.fired.has(event)) drawn.unfired(event, ends)
  return { boxes: [...drawn.edges, ...steps.values(), ...outsides, ...drawn.loose], wires: drawn.wires }
}

function takersOf(steps: Map<string, StepBox>): Map<string, End[]> {
  const takers = new Map<string, End[]>()
  for (const box of steps.values()) {
    for (const pin of box.pins) for (const event of pin.events) takers.set(event, [...(takers.get(event) ?? []), { box: box.id, port: pin.id }])
  }
  return takers
}

class Drawing {
  readonly wires: Wire[] = []
  readonly loose: LooseBox[] = []
  readonly edges: EdgeBox[] = []
  readonly fired = new Set<string>()
  private readonly ids = new Set<string>()

  constructor(private readonly takers: Map<string, End[]>) {}

  fires(box: StepBox): void {
    const listed = emitsOf(box.step)
    for (const port of box.ports) {
      for (const event of firedBy(box.name, box.step, port.name)) {
        this.fired.add(event)
        const own = !(listed[port.name] ?? []).includes(event)
        const from = { box: box.id, port: port.id }
        const ends = this.takers.get(event) ?? []
        for (const to of ends) this.wire(event, from, to, { failed: port.failed, pill: own ? null : event })
        if ((ENDS as readonly string[]).includes(event)) this.ends(event, from, port.failed)
        else if (!own && ends.length === 0) this.unused(event, from, port.failed)
      }
    }
  }

  comes(box: OutsideBox): void {
    for (const event of box.events) {
      this.fired.add(event)
      const from = { box: box.id, port: box.some ? 'out:all' : `out:${event}` }
      for (const to of this.takers.get(event) ?? []) this.wire(event, from, to, { failed: false, pill: null, outside: true, bundle: box.some ? box.id : event })
    }
  }

  begins(): void {
    this.fired.add('START')
    this.edges.push({ kind: 'start', id: START, name: 'START', width: 34, height: 34 })
    for (const to of this.takers.get('START') ?? []) this.wire('START', { box: START, port: 'out:done' }, to, { failed: false, pill: null })
  }

  /** CANCEL and TIMEOUT come from people and clocks, FAIL from a failure that nobody handles. */
  causes(event: string): void {
    this.fired.add(event)
    this.edges.push({ kind: 'cause', id: endId(event), name: event, width: 84, height: 24 })
    for (const to of this.takers.get(event) ?? []) this.wire(event, { box: endId(event), port: 'out:done' }, to, { failed: false, pill: null })
  }

  unfired(event: string, ends: End[]): void {
    for (const to of ends) {
      const id = `@unfired:${event}:${to.box}`
      this.loose.push({ kind: 'unfired', id, event, at: to, width: pillWidth(event), height: 18 })
      this.wire(event, { box: id, port: 'out:done' }, to, { failed: false, pill: null })
    }
  }

  private ends(event: string, from: End, failed: boolean): void {
    const id = endId(event)
    if (!this.edges.some((edge) => edge.id === id)) this.edges.push({ kind: 'end', id, name: event, width: event === 'CANCEL' ? 72 : event === 'OK' ? 48 : 56, height: 24 })
    this.wire(event, from, { box: id, port: 'in0' }, { failed, pill: null })
  }

  private unused(event: string, from: End, failed: boolean): void {
    const id = `@unused:${event}`
    if (!this.loose.some((each) => each.id === id)) this.loose.push({ kind: 'unused', id, event, at: from, width: pillWidth(event) + 16, height: 18 })
    this.wire(event, from, { box: id, port: 'in0' }, { failed, pill: null })
  }

  private wire(event: string, from: End, to: End, more: { failed: boolean; pill: string | null; outside?: boolean; bundle?: string }): void {
    const id = `${event}|${from.box}|${from.port}|${to.box}|${to.port}`
    if (this.ids.has(id)) return
    this.ids.add(id)
    this.wires.push({ id, event, from, to, outside: false, bundle: event, ...more })
  }
}

/** About how wide a pill with that text is. */
export const pillWidth = (text: string): number => Math.min(180, 26 + Math.ceil(text.length * 5.9))
