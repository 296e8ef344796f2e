/** The commands of the editor: objects that feed the keys, the menu and the command bar. */
import { useMemo } from 'react'
import { useRights } from '@/api/rights'
import type { Finding } from '@/api/types'
import { type Command, useOffer } from '@/app/commands'
import { originalOf } from '@/app/bindings'
import { chord, isTyping, lettersOn } from '@/app/keys'
import { goTo, playTrace, startGame, stopPlaying, toggle, usePlayer } from '@/diagram/player'
import { fitting } from '@/diagram/diagram'
import { t } from '@/messages'
import { addNote, addOutside, connectByKeys, foldSelected, finderAt, groupSelected, nudge, removeSelected, toggleDisabled } from './acts'
import { copySelected, pasteText } from './clips'
import { tidy } from './canvas'
import { startRenaming } from './naming'
import { chooserOpen } from './chooser'
import { findingText } from './problems/texts'
import { findingsOf, redo, select, undo, useEditor } from './store'
import { canvas, reveal } from './view'
import { type Way, next, stretched, walkable } from './walk'

export interface Hooks {
  openPublish: () => void
  openStart: () => void
  openTry: () => void
  showKeys: () => void
}

/** The next or the previous problem: selected, revealed, and its trace ready to be played. */
export function problem(by: number): void {
  const state = useEditor.getState()
  const findings = findingsOf(state)
  if (findings.length === 0) return
  at = (at + by + findings.length) % findings.length
  const finding = findings[at]
  chosen = finding ?? null
  useEditor.setState({ panel: 'problems' })
  if (finding?.step) {
    select(finding.step)
    reveal(finding.step)
  }
}
let at = -1
let chosen: Finding | null = null

/** Plays the trace of a finding on the canvas. */
export function showFinding(finding: Finding): void {
  if (usePlayer.getState().title === null) before = finding.trace.length > 0 ? useEditor.getState().selection : null
  if (finding.step) {
    select(finding.step)
    reveal(finding.step)
  }
  if (finding.trace.length > 0) playTrace(useEditor.getState().definition, finding.trace, findingText(finding).sentence, finding.severity === 'error')
}

/** What was selected before something was played is selected again when it is left. */
let before: string[] | null = null
function leave(): void {
  const was = before
  stopPlaying()
  if (was) select(...was)
}
usePlayer.subscribe(({ title }) => {
  if (title === null) before = null
})

/** What changes the drawing: none of it is a move of a game, so while one is played its keys do nothing; nor for who can only look. */
const DRAWS = new Set(['insert', 'connect', 'rename', 'disable', 'remove', 'cut', 'undo', 'redo', 'outside', 'note', 'group', 'fold', 'tidy'])

/** A drawing that was changed all the same, beside the canvas or by somebody else, is another game. */
useEditor.subscribe(({ definition }, { definition: before }) => {
  if (definition !== before && usePlayer.getState().game) stopPlaying()
})

export function useEditorCommands(hooks: Hooks): Command[] {
  const selection = useEditor((state) => state.selection)
  const past = useEditor((state) => state.past.length)
  const future = useEditor((state) => state.future.length)
  const published = useEditor((state) => state.published !== null)
  const game = usePlayer((state) => state.game)
  const readOnly = useEditor((state) => state.readOnly)
  const { operates, authors } = useRights()
  const commands = useMemo<Command[]>(() => {
    const some = selection.length > 0
    const group = t('cmd.group')
    const list: Command[] = [
      { id: 'insert', label: t('cmd.insert'), keys: '/', icon: 'search', run: () => finderAt() },
      { id: 'connect', label: t('cmd.connect'), keys: 'C', icon: 'flow', enabled: some, run: connectByKeys },
      { id: 'rename', label: t('cmd.rename'), keys: 'F2', icon: 'edit', enabled: some, run: () => selection[0] && startRenaming(selection[0]) },
      { id: 'disable', label: t('cmd.disable'), keys: 'D', icon: 'disabled', enabled: some, run: toggleDisabled },
      { id: 'remove', label: t('cmd.remove'), keys: 'Delete', icon: 'trash', enabled: some, run: removeSelected },
      { id: 'selectAll', label: t('cmd.selectAll'), keys: 'Ctrl A', run: () => select(...(canvas()?.graph.boxes.map((box) => box.id) ?? [])) },
      { id: 'copy', label: t('cmd.copy'), keys: 'Ctrl C', icon: 'copy', enabled: some, run: () => void copySelected() },
      { id: 'cut', label: t('cmd.cut'), keys: 'Ctrl X', enabled: some, run: () => void copySelected(true) },
      { id: 'undo', label: t('act.undo'), keys: 'Ctrl Z', icon: 'undo', enabled: past > 0, run: undo },
      { id: 'redo', label: t('act.redo'), keys: 'Ctrl Shift Z', icon: 'redo', enabled: future > 0, run: redo },
      { id: 'outside', label: t('palette.outside'), icon: 'outside', run: addOutside },
      { id: 'note', label: t('palette.note'), icon: 'sticky', run: addNote },
      { id: 'group', label: t('palette.group'), icon: 'grid', enabled: some, run: groupSelected },
      { id: 'fold', label: t('cmd.fold'), keys: 'G', icon: 'down', enabled: some, run: () => foldSelected() },
      { id: 'tidy', label: t('cmd.tidy'), keys: 'L', icon: 'tidy', run: () => void tidyNow() },
      { id: 'nextProblem', label: t('cmd.nextProblem'), keys: 'F8', icon: 'warning', run: () => problem(1) },
      { id: 'previousProblem', label: t('cmd.previousProblem'), keys: 'Shift F8', run: () => problem(-1) },
      { id: 'petri', label: t('cmd.petri'), keys: 'P', icon: 'petri', run: () => useEditor.setState(({ mode }) => ({ mode: mode === 'petri' ? 'diagram' : 'petri' })) },
      { id: 'text', label: t('cmd.text'), icon: 'text', run: () => useEditor.setState(({ textOpen }) => ({ textOpen: !textOpen })) },
      { id: 'game', label: t('cmd.game'), icon: 'token', run: () => startGame(useEditor.getState().definition, t('game.title')) },
      { id: 'try', label: t('editor.try'), keys: 'T', icon: 'play', enabled: authors, run: hooks.openTry },
      { id: 'publish', label: t('editor.publish'), keys: 'Ctrl Enter', icon: 'seal', enabled: authors, run: hooks.openPublish },
      { id: 'start', label: t('ru.start'), icon: 'runs', enabled: published && operates, run: hooks.openStart },
      { id: 'keys', label: t('cmd.keys'), keys: '?', run: hooks.showKeys },
    ]
    return list.map((command) => ({ ...command, group, ...((game || readOnly) && DRAWS.has(command.id) ? { enabled: false } : {}) }))
  }, [selection, past, future, published, game, readOnly, operates, authors, hooks])
  useOffer('editor', commands)
  return commands
}

async function tidyNow(): Promise<void> {
  const view = canvas()
  if (!view) return
  await tidy(view.graph)
  setTimeout(() => void view.flow.fitView({ ...fitting(), duration: 250 }), 60)
}

const ALIKE: Record<string, string> = { N: '/', 'Ctrl+Y': 'Ctrl+Shift+Z', Backspace: 'Delete', '=': '+' }
const ALWAYS = new Set(['Ctrl+Z', 'Ctrl+Shift+Z', 'F8', 'Shift+F8', 'Ctrl+Enter'])

/** What a key does on the canvas. True where it did something. */
export function pressed(event: React.KeyboardEvent | KeyboardEvent, commands: Command[], onCanvas: boolean): boolean {
  const raw = chord(event)
  const name = originalOf(ALIKE[raw] ?? raw)
  if (isTyping(event.target) || chooserOpen() || ownPress(event, name)) return false
  if (!onCanvas && !ALWAYS.has(name) && !playerTakes(name)) return false
  if (event.key.length === 1 && !name.includes('Ctrl') && !lettersOn() && name !== '/') return false
  const command = commands.find((each) => each.keys?.replaceAll(' ', '+') === name)
  if (command) {
    if (command.enabled !== false) command.run()
    return command.enabled !== false || command.id === 'undo' || command.id === 'redo'
  }
  return viewKey(name) || moveKey(name)
}

/** Enter and a space press what one is on, also where it stands on the canvas. */
function ownPress(event: React.KeyboardEvent | KeyboardEvent, name: string): boolean {
  if (name !== ' ' && name !== 'Enter') return false
  const target = event.target as Partial<Element> | null
  return target?.closest?.('button, a, input, summary, [role=button], [role=tab], [role=option]') != null
}

/** The keys of what is played work wherever one is. */
function playerTakes(name: string): boolean {
  return usePlayer.getState().title !== null && [' ', 'Escape', ',', '.'].includes(name)
}

function viewKey(name: string): boolean {
  const flow = canvas()?.flow
  const { frames, at: frame } = usePlayer.getState()
  const bound: Record<string, () => void> = {
    '1': () => void flow?.fitView({ ...fitting(), duration: 200 }),
    '0': () => void flow?.zoomTo(1, { duration: 200 }),
    '+': () => void flow?.zoomIn({ duration: 120 }),
    '-': () => void flow?.zoomOut({ duration: 120 }),
    '−': () => void flow?.zoomOut({ duration: 120 }),
    Escape: () => (usePlayer.getState().title !== null ? leave() : select()),
    Enter: () => document.querySelector<HTMLElement>('.insp input, .insp button, .insp textarea, .insp [tabindex="0"]')?.focus(),
    ...(frames.length === 0 && chosen ? { ' ': () => chosen && showFinding(chosen) } : {}),
    ...(frames.length > 0 ? { ' ': toggle, ',': () => goTo(frame - 1), '.': () => goTo(frame + 1) } : {}),
  }
  const run = bound[name]
  run?.()
  return run !== undefined
}

const STEP: Record<string, [number, number]> = { ArrowLeft: [-16, 0], ArrowRight: [16, 0], ArrowUp: [0, -16], ArrowDown: [0, 16] }

function moveKey(name: string): boolean {
  const way = name.replace('Alt+', '').replace('Shift+', '')
  const by = STEP[way]
  const view = canvas()
  if (!by || !view?.places) return false
  if (name.startsWith('Alt+')) {
    if (usePlayer.getState().game) return false
    nudge(...by)
    return true
  }
  const { selection } = useEditor.getState()
  const ground = walkable(view.shown, view.places, view.notes)
  const from = selection.findLast((id) => ground.at.has(id))
  const to = next(ground, from, way as Way)
  if (to) {
    if (name.startsWith('Shift+')) select(...stretched(selection, to))
    else select(to)
    reveal(to)
  }
  return true
}

export { pasteText }
