/** Plays frames, forward and back: the text list and the drawing read the same place. */
import { create } from 'zustand'
import type { Definition } from './definition'
import { type Frame, type State, type TraceItem, begin, comeIn, enabledSteps, fireStep, framesOf, withdrawn } from './net'
import type { Move } from './wires'

export interface Player {
  /** What is played: a trace of a finding, or a run that succeeds; null: nothing. */
  title: string | null
  bad: boolean
  frames: Frame[]
  at: number
  playing: boolean
  speed: 0.5 | 1 | 2
  moves: Move[]
  /** A game: the person fires. */
  game: boolean
}

const OFF: Player = { title: null, bad: false, frames: [], at: 0, playing: false, speed: 1, moves: [], game: false }
export const usePlayer = create<Player>(() => OFF)

const BEAT = 1100
let timer: ReturnType<typeof setTimeout> | undefined
let count = 0

/** Shows a trace from its first frame; it plays, for somebody asked for it. */
export function playTrace(definition: Definition, trace: readonly TraceItem[], title: string, bad = true): void {
  const frames = framesOf(definition, trace)
  usePlayer.setState({ ...OFF, title, bad, frames, at: 0, playing: true, speed: usePlayer.getState().speed, moves: movesOf(frames[0], bad) })
  later()
}

export function stopPlaying(): void {
  clearTimeout(timer)
  usePlayer.setState(OFF)
}

export function toggle(): void {
  const { playing, at, frames } = usePlayer.getState()
  if (frames.length === 0) return
  if (!playing && at >= frames.length - 1) goTo(0)
  usePlayer.setState({ playing: !playing })
  if (playing) clearTimeout(timer)
  else later()
}

/** One frame; forward its tokens move, back they are simply where they were. */
export function goTo(at: number): void {
  const { frames, at: before, bad } = usePlayer.getState()
  const next = Math.max(0, Math.min(frames.length - 1, at))
  usePlayer.setState({ at: next, moves: next > before || next === 0 ? movesOf(frames[next], bad) : [] })
}

export const setSpeed = (speed: Player['speed']) => usePlayer.setState({ speed })

function later(): void {
  clearTimeout(timer)
  timer = setTimeout(() => {
    const { at, frames, playing } = usePlayer.getState()
    if (!playing) return
    if (at >= frames.length - 1) {
      usePlayer.setState({ playing: false })
      return
    }
    goTo(at + 1)
    later()
  }, BEAT / usePlayer.getState().speed)
}

function movesOf(frame: Frame | undefined, bad: boolean): Move[] {
  return (frame?.moves ?? []).map((move) => ({ ...move, id: `m${++count}`, bad }))
}

// -- the token game ------------------------------------------------------------------------------------------

/** A run in which the reader decides what fires. */
export function startGame(definition: Definition, title: string): void {
  clearTimeout(timer)
  const first = begin(definition)
  const frame: Frame = { kind: 'event', event: 'START', taken: [], takers: first.copies.flatMap((copy) => copy.steps), state: first.state, moves: [{ event: 'START' }] }
  usePlayer.setState({ ...OFF, title, game: true, frames: [frame], moves: movesOf(frame, false) })
}

function push(frame: Frame): void {
  const { frames, at } = usePlayer.getState()
  usePlayer.setState({ frames: [...frames.slice(0, at + 1), frame], at: at + 1, moves: movesOf(frame, false) })
}

export function gameFire(definition: Definition, step: string, port: string): void {
  const state = stateNow()
  if (!state || !enabledSteps(definition, state).includes(step)) return
  const fired = fireStep(definition, state, step, port)
  push({ kind: 'fire', step, port, taken: fired.taken, takers: [...new Set(fired.copies.flatMap((copy) => copy.steps))], state: withdrawn(definition, state, fired.state), moves: fired.copies.map(({ event }) => ({ event, from: step, port })) })
}

export function gameEvent(definition: Definition, event: string): void {
  const state = stateNow()
  if (!state) return
  const come = comeIn(definition, state, event)
  push({ kind: 'outside', event, taken: [], takers: [...new Set(come.copies.flatMap((copy) => copy.steps))], state: come.state, moves: [{ event }] })
}

export function stateNow(): State | undefined {
  const { frames, at } = usePlayer.getState()
  return frames[at]?.state
}
