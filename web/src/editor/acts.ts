/** What can be done on the canvas: by mouse, by key, by the command bar; all of it ends in an edit. */
import { type Definition, type Offer, type Point, type Step, isReserved, portsOf, slotsOf, titleOf } from '@/diagram/definition'
import { type Graph, graphOf } from '@/diagram/graph'
import { iconOf } from '@/diagram/icons'
import { routesOf } from '@/diagram/route'
import { t } from '@/messages'
import { freshId } from '@/ui/fresh'
import { dismiss, toast } from '@/ui/toasts'
import { type Choice, choose } from './chooser'
import { type Grip, type How, type Other, type Refusal, cutWire, eventFrom, insertInto, join, joinEdit } from './connecting'
import { type Edit, addExternal, addStep, freeName, place, placeAll, removeExternal, removeSteps, renameEvent, setGroup, setNote, setStep, standing, whyNotEvent } from './document'
import { type Rect, clearOf, groundOf } from './guides'
import { stay } from './hint'
import { offerTitle } from './offers'
import { removeWhereNobodyIs } from './removing'
import { edit, select, undo, useEditor } from './store'
import { NOTE, canvas, middle, reveal } from './view'
import { walkable } from './walk'

export interface Spot {
  x: number
  y: number
}

/** Says at the pointer why a wire cannot be; where there was none, among the news. */
export function refuse(why: Refusal, at?: Spot): void {
  if (at) stay(why, at)
  else toast({ id: 'refused', kind: 'bad', title: t('refuse.title'), detail: t(why.key, why.values) })
}

const graphNow = (): Graph => canvas()?.graph ?? graphOf(useEditor.getState().definition, useEditor.getState().offers)

/** An edit of the drawing by hand: boxes that it does not speak of stay where they are seen. */
export function editDrawn(label: string, change: Edit, done?: (before: Definition) => void): void {
  const drawn: Edit = (now) => {
    const stood = standing(canvas()?.places ?? new Map())(now)
    const made = change(stood)
    return made === stood ? now : made
  }
  edit(label, drawn, done)
}

/** Draws a wire, asks how where the step waits already, or says why it cannot be. */
export function connectTo(from: Grip, to: Grip, at?: Spot, graph: Graph = graphNow()): void {
  const { definition } = useEditor.getState()
  const joining = join(definition, graph, from, to)
  if (joining.kind === 'refused') {
    refuse(joining.why, at)
    return
  }
  const apply = (how: How) => editDrawn(t('did.connect'), joinEdit(joining, how, from))
  if (joining.kind === 'fires' || joining.others.length === 0) {
    apply('all')
    return
  }
  const step = titleOf(joining.step, definition.steps[joining.step])
  choose({
    title: t('finder.join', { step, event: joining.event }),
    at,
    choices: [
      ...(joining.same ? [{ id: 'same', label: t('finder.sameEvent', { event: joining.same }), icon: 'token' as const, run: () => apply('same') }] : []),
      { id: 'all', label: t('finder.also'), icon: 'plus' as const, run: () => apply('all') },
      ...joining.others.map((other) => ({ id: `either ${other.at}`, label: eitherText(other, slotsOf(definition.steps[joining.step] ?? {}).length), icon: 'branch' as const, run: () => apply({ slot: other.at }) })),
    ],
  })
}

/** "This or the other"; of several, which one. */
function eitherText({ slot }: Other, slots: number): string {
  const events = slot.events.join(slot.kind === 'some' ? ', ' : ' | ')
  if (slot.kind === 'some') return t('finder.someOf', { events })
  return slots === 1 ? t('finder.either') : t('finder.eitherOf', { events })
}

export interface Adding {
  at?: Point
  /** The wire to put it into. */
  onWire?: string
  /** The port to connect it to. */
  from?: Grip
}

/** Puts a box on the canvas, connected where that is asked for; it is selected then. */
export function addTask(task: string, { at, onWire, from }: Adding): void {
  const { definition, offers } = useEditor.getState()
  const graph = graphNow()
  const offer = offers[task]
  const name = freeName(nameOf(offer, task), definition)
  const wire = onWire ? graph.wires.find((each) => each.id === onWire) : undefined
  const adds: Edit = (now) => {
    let made = addStep(name, stepOf(task), at ?? placeFor(graph, wire?.from.box ?? from?.box, now))(now)
    if (wire) made = insertInto(graph, wire.id, name, offers)(made)
    if (from) made = joinEdit(join(made, graphOf(made, offers), from, { box: name, port: 'in' }), 'all', from)(made)
    return made
  }
  editDrawn(t('did.add', { name }), adds, () => {
    select(name)
    if (!at) requestAnimationFrame(() => reveal(name))
  })
}

const nameOf = (offer: Offer | undefined, task: string): string => (offer && offerTitle(offer)) || task.split('.').at(-1)?.replaceAll('_', ' ') || task

function stepOf(task: string): Step {
  const filled: Record<string, Step> = { decide: { with: { if: 'true' } }, switch: { with: { cases: { first: 'true' } } }, wait: { with: { for: '1m' } } }
  return { task, ...filled[task] }
}

/** Beside what it hangs on, else where the reader looks. */
function placeFor(graph: Graph, beside: string | undefined, definition: Definition): Point | undefined {
  const at = beside ? canvas()?.places?.get(beside) : undefined
  const box = graph.boxes.find((each) => each.id === beside)
  const wish: Point = at && box ? [at[0] + box.width + 64, at[1]] : Object.keys(definition.steps).length === 0 ? [80, 96] : middle()
  // Beside a box its own wires lead to the new one; elsewhere they are not to be covered.
  return clearOf(wish, groundTaken(graph, !at))
}

/** What a new box or note would cover: boxes and notes, and wires where they count. */
function groundTaken(graph: Graph, wires: boolean): Rect[] {
  const view = canvas()
  const boxes = graph.boxes.flatMap((each): Rect[] => {
    const there = view?.places?.get(each.id)
    return there ? [{ left: there[0], top: there[1], width: each.width, height: each.height }] : []
  })
  const notes = Object.values(view?.notes ?? {}).map(({ at, size = NOTE }): Rect => ({ left: at[0], top: at[1], width: size[0], height: size[1] }))
  return [...boxes, ...notes, ...(wires && view?.places ? routesOf(graph, view.places).flatMap(groundOf) : [])]
}

/** Every box there is, as choices. */
export function boxChoices(adding: Adding): Choice[] {
  return Object.values(useEditor.getState().offers).map((offer) => ({ id: offer.name, label: offerTitle(offer), detail: offer.name, icon: iconOf(offer.name), run: () => addTask(offer.name, adding) }))
}

/** Finds a box and inserts it: on the selected wire, behind the port that a wire was drawn from, or where the reader looks. */
export function finderAt({ screen, from }: { screen?: Spot; from?: Grip } = {}): void {
  const { selection } = useEditor.getState()
  const onWire = from ? undefined : selection.find((id) => id.startsWith('wire:'))?.slice(5)
  const wire = onWire ? graphNow().wires.find((each) => each.id === onWire) : undefined
  const flow = canvas()?.flow
  const spot = screen && flow ? flow.screenToFlowPosition(screen) : undefined
  const at: Point | undefined = spot ? [Math.round(spot.x / 16) * 16, Math.round((spot.y - 25) / 16) * 16] : undefined
  const ends: Choice[] = from ? endChoices(from) : []
  const others: Choice[] = from ? [] : [{ id: '@outside', label: t('palette.outside'), icon: 'outside', run: addOutside }, { id: '@note', label: t('palette.note'), icon: 'sticky', run: addNote }]
  choose({ title: wire ? t('finder.insertOn', { event: wire.event }) : t('finder.insert'), at: screen, choices: [...boxChoices({ at, from, onWire }), ...ends, ...others] })
}

const endChoices = (from: Grip): Choice[] => (useEditor.getState().definition.steps[from.box] ? ['OK', 'FAIL', 'CANCEL'].map((name) => ({ id: `@${name}`, label: t('finder.end', { name }), icon: name === 'OK' ? ('check' as const) : ('cross' as const), run: () => connectEnd(from, name) })) : [])

function connectEnd(from: Grip, name: string): void {
  connectTo(from, { box: `@${name}`, port: 'in0' })
}

/** C: from which port, to which box; arrows choose, Enter sets. */
export function connectByKeys(): void {
  const { selection, definition, offers } = useEditor.getState()
  const [box] = selection
  if (!box) return
  const step = definition.steps[box]
  const outside = graphNow().boxes.find((each) => each.id === box && each.kind === 'outside')
  const ports = step ? portsOf(step, offers).map((port) => `out:${port}`) : outside && 'ports' in outside ? outside.ports.map((port) => port.id) : box.startsWith('@') ? ['out:done'] : []
  const target = (port: string) => chooseTarget({ box, port })
  if (ports.length === 1) target(ports[0] as string)
  else if (ports.length > 1) choose({ title: t('finder.port', { step: step ? titleOf(box, step) : t('diagram.outside') }), choices: ports.map((port) => ({ id: port, label: port.slice(4), icon: port === 'out:failed' ? 'failed' : 'check', run: () => target(port) })) })
}

function chooseTarget(from: Grip): void {
  const { definition } = useEditor.getState()
  const graph = graphNow()
  const steps = Object.entries(definition.steps)
    .filter(([name]) => join(definition, graph, from, { box: name, port: 'in' }).kind !== 'refused')
    .map(([name, step]): Choice => ({ id: name, label: titleOf(name, step), detail: step.task, icon: iconOf(step.task ?? ''), run: () => connectTo(from, { box: name, port: 'in' }) }))
  const step = definition.steps[from.box]
  const port = step ? from.port.slice(4) : (eventFrom(definition, from) ?? '')
  choose({
    title: t('finder.connect', { step: step ? titleOf(from.box, step) : from.box.replace('@', ''), port }),
    choices: [...steps, ...endChoices(from), { id: '@new', label: t('finder.new'), icon: 'plus', run: () => finderAt({ from }) }],
  })
}

// -- events, notes, groups -----------------------------------------------------------------------------------

/** Why an event cannot be called that, in words. */
export function badEvent(name: string, old?: string): string | null {
  const why = whyNotEvent(name, useEditor.getState().definition, old)
  if (why === null) return null
  return why === 'step' ? t('finder.stepEvent', { name }) : why === 'taken' ? t('finder.takenEvent', { name }) : t('finder.badName')
}

/** Lets an event in from outside. */
export function addOutside(): void {
  choose({ title: t('finder.eventDetail'), choices: [], free: { label: t('finder.addEvent'), check: (name) => badEvent(name), run: (name) => editDrawn(t('did.outside'), addExternal(name)) } })
}

/** The wire of an event that has another name now: what was selected stays it. */
const wireRenamed = (id: string, event: string, to: string): string => (id.startsWith(`wire:${event}|`) ? id.split('|').map((part, at) => (at === 0 ? `wire:${to}` : part === `out:${event}` ? `out:${to}` : part)).join('|') : id)

/** Another name for an event, everywhere. */
export function renameEventAsk(event: string): void {
  const { definition } = useEditor.getState()
  if (isReserved(event)) return
  if (definition.steps[event]) {
    select(event)
    return
  }
  choose({
    title: t('finder.rename', { event }),
    choices: [],
    free: {
      label: t('finder.renameDo'),
      initial: event,
      check: (to) => badEvent(to, event),
      run: (to) => {
        const { places } = renameEvent(useEditor.getState().definition, event, to)
        edit(t('did.rename'), (now) => renameEvent(now, event, to).definition, () => {
          select(...useEditor.getState().selection.map((id) => wireRenamed(id, event, to)))
          toast({ kind: 'ok', title: t('finder.renamed', { from: event, to, n: places }) })
        })
      },
    },
  })
}

/** A note where the reader looks, beside what is there. */
export const addNote = (): void => noteAt(clearOf(middle(), groundTaken(graphNow(), true)))

export function noteAt(at?: Point, id: string = freshId().slice(0, 8)): void {
  const old = useEditor.getState().definition.view?.notes?.[id]
  choose({
    title: t('finder.noteDetail'),
    choices: [],
    free: { label: t('finder.noteAdd'), long: true, initial: old?.text, run: (text) => edit(t('did.note'), setNote(id, { text, at: at ?? old?.at ?? middle(), ...(old?.size ? { size: old.size } : {}) })) },
  })
}

export function groupSelected(): void {
  const { selection, definition } = useEditor.getState()
  const steps = selection.filter((id) => definition.steps[id])
  if (steps.length === 0) return
  choose({ title: t('finder.groupTitle'), choices: [], free: { label: t('palette.group'), run: (title) => edit(t('did.group'), setGroup(freshId().slice(0, 8), { title, steps })) } })
}

/** Another name for a group, open or folded. */
export function renameGroupAsk(id: string): void {
  const group = useEditor.getState().definition.view?.groups?.[id]
  if (!group) return
  const run = (title: string) => edit(t('did.rename'), (now) => setGroup(id, { ...(now.view?.groups?.[id] ?? group), title })(now))
  choose({ title: t('finder.renameGroup', { title: group.title }), choices: [], free: { label: t('did.rename'), initial: group.title, run } })
}

/** Folds a group to one box, or opens it; it is selected then. */
export function foldGroup(id: string): void {
  const group = useEditor.getState().definition.view?.groups?.[id.slice(6)]
  if (!group) return
  const { folded, ...rest } = group
  edit(t(folded ? 'did.unfold' : 'did.fold'), setGroup(id.slice(6), folded ? rest : { ...rest, folded: true }))
  select(id)
}

/** Those groups that are selected, or that a selected step is in. */
export function foldSelected(): void {
  const { selection, definition } = useEditor.getState()
  const wanted = Object.entries(definition.view?.groups ?? {}).filter(([id, group]) => selection.includes(`group:${id}`) || group.steps.some((step) => selection.includes(step)))
  for (const [id] of wanted) foldGroup(`group:${id}`)
}

// -- what is selected ----------------------------------------------------------------------------------------

/** A step that waits for nothing any more begins with the run: that is told, since it is seldom meant. */
export function tellLoose(before: Definition): void {
  const { definition } = useEditor.getState()
  const loose = Object.keys(definition.steps).filter((name) => before.steps[name]?.after !== undefined && definition.steps[name]?.after === undefined)
  const [name] = loose
  if (name === undefined) return
  const cut = useEditor.getState().past.at(-1)
  // After other edits an undo would take those away: then they wait again for what they waited for.
  const back = () => {
    if (useEditor.getState().past.at(-1) === cut) undo()
    else edit(t('did.connect'), (now) => loose.reduce((made, each) => setStep(each, { after: before.steps[each]?.after })(made), now))
  }
  toast({ id: 'loose', kind: 'warn', title: t('did.loose', { step: titleOf(name, definition.steps[name]), n: loose.length }), detail: t('did.looseDetail', { n: loose.length }), action: { label: t('act.undo'), run: back }, lasts: 12_000 })
}

/** Removes what is selected: steps, wires, notes, groups, events from outside, ends. Asks first where runs are in it. */
export function removeSelected(): void {
  const { selection, definition, readOnly } = useEditor.getState()
  if (selection.length === 0 || readOnly) return
  void removeWhereNobodyIs(selection.filter((id) => definition.steps[id]), () => removeAll(selection))
}

function removeAll(selection: string[]): void {
  const graph = graphNow()
  const removed = selection.filter((id) => removeOne(useEditor.getState().definition, graph, id) !== useEditor.getState().definition)
  editDrawn(
    t('did.remove', { n: removed.length }),
    (now) => removed.reduce((made, id) => removeOne(made, graph, id), now),
    (before) => {
      select()
      untilEdited(toast({ id: 'removed', kind: 'ok', title: t('did.removed', { n: removed.length }), lasts: 4000 }))
      tellLoose(before)
    },
  )
}

/** What is told of an edit goes with the next one, which may take it back. */
function untilEdited(told: string): void {
  const { past } = useEditor.getState()
  const stop = useEditor.subscribe((now) => {
    if (now.past === past) return
    stop()
    dismiss(told)
  })
}

/** Without it; START stays, since every run begins there. */
function removeOne(definition: Definition, graph: Graph, id: string): Definition {
  return definition.steps[id] ? removeSteps([id])(definition) : removeOther(definition, graph, id)
}

function removeOther(definition: Definition, graph: Graph, id: string): Definition {
  if (id.startsWith('wire:')) return cutWire(graph, id.slice(5))(definition)
  if (id.startsWith('note:')) return setNote(id.slice(5), null)(definition)
  if (id.startsWith('group:')) return setGroup(id.slice(6), null)(definition)
  const box = graph.boxes.find((each) => each.id === id)
  if (box?.kind === 'outside') return box.events.reduce((now, event) => removeExternal(event)(now), definition)
  if (box?.kind === 'end' || box?.kind === 'unused') return graph.wires.filter((wire) => wire.to.box === id).reduce((now, wire) => cutWire(graph, wire.id)(now), definition)
  if (box?.kind === 'unfired') return graph.wires.filter((wire) => wire.from.box === id).reduce((now, wire) => cutWire(graph, wire.id)(now), definition)
  return definition
}

export function toggleDisabled(): void {
  const { selection, definition } = useEditor.getState()
  const steps = selection.filter((id) => definition.steps[id])
  edit(t('did.disable'), (now) => steps.reduce((made, name) => setStep(name, { disabled: made.steps[name]?.disabled ? undefined : portOff(made.steps[name] as Step) })(made), now))
}

/** A task without the port `done` says on which one it ends. */
function portOff(step: Step): boolean | string {
  const ports = portsOf(step, useEditor.getState().offers)
  return ports.includes('done') || ports.length === 0 ? true : (ports[0] as string)
}

/** Puts what is on the canvas at another place: a note, a box, or a folded group, which takes its steps along. */
export function moveTo(id: string, to: Point): Edit {
  return (now) => {
    const note = id.startsWith('note:') ? now.view?.notes?.[id.slice(5)] : undefined
    if (note) return setNote(id.slice(5), { ...note, at: to })(now)
    const places = canvas()?.places
    const from = places?.get(id)
    if (!id.startsWith('group:')) return place(id, to)(now)
    if (!places || !from) return now
    const steps = now.view?.groups?.[id.slice(6)]?.steps ?? []
    return placeAll(steps.flatMap((step): [string, Point][] => {
      const at = places.get(step)
      return at ? [[step, [at[0] + to[0] - from[0], at[1] + to[1] - from[1]]]] : []
    }))(now)
  }
}

/** Moves what is selected by so much. */
export function nudge(dx: number, dy: number): void {
  const view = canvas()
  if (!view?.places) return
  const { at } = walkable(view.shown, view.places, view.notes)
  const moves = useEditor.getState().selection.flatMap((id): Edit[] => {
    const from = at.get(id)
    return from ? [moveTo(id, [from[0] + dx, from[1] + dy])] : []
  })
  if (moves.length > 0) editDrawn(t('did.move'), (now) => moves.reduce((made, move) => move(made), now))
}
