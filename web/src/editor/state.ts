/** What the editor knows: the definition, what can be undone, what is selected, what the checks say, what is saved. */
import { create } from 'zustand'
import type { ApiError, Misfit } from '@/api/client'
import type { Draft, Finding, Report } from '@/api/types'
import type { Definition, Offers } from '@/diagram/definition'
import type { Entry } from './changes'
import { EMPTY } from './document'
import type { Kept } from './keep'

/** `unread`: what the server has could not be had, and nothing was edited here. */
export type SaveState = 'loading' | 'unread' | 'saved' | 'unsaved' | 'saving' | 'away' | 'conflict' | 'gone' | 'refused' | 'missing'
export type ViewMode = 'diagram' | 'petri'

/** A text, and the definition that it says: so comments outlive edits of the drawing. */
export interface Written {
  text: string
  of: Definition
}

/** What somebody typed that is not taken yet; `refused`: it says no definition, so it cannot be. */
export interface Typed {
  text: string
  refused: boolean
}

export interface EditorState {
  name: string
  definition: Definition
  written: Written | null
  typed: Typed | null
  /** An edit that would replace typed text which cannot be read: it waits for an answer. */
  asking: (() => void) | null
  /** The names of the selected boxes, and `wire:<id>` of a selected wire. */
  selection: string[]
  past: Entry[]
  future: Entry[]
  /** What could be undone when the server last had it all. */
  sent: Entry[]
  save: SaveState
  /** Why a draft was refused, or what loading it came to. */
  why: string | null
  errors: Misfit[]
  savedAt: number | null
  etag: string | null
  /** What the server had when it was last in step with this: from there both went on. */
  base: Definition | null
  /** What the server has where somebody else saved meanwhile. */
  theirs: Draft | null
  /** What closed tabs of this browser left behind, unsaved. */
  left: Kept[]
  published: number | null
  started: boolean
  changed: boolean
  updatedBy: string | null
  report: Report | null
  /** The definition that the report is about: another one is being checked. */
  checked: Definition | null
  checkError: ApiError | null
  offers: Offers
  mode: ViewMode
  textOpen: boolean
  panel: string
  /** Why nothing can be changed here: the window is too narrow, or who looks on may not. */
  readOnly: false | 'narrow' | 'role'
}

export const BLANK: EditorState = {
  name: '',
  definition: EMPTY(''),
  written: null,
  typed: null,
  asking: null,
  selection: [],
  past: [],
  future: [],
  sent: [],
  save: 'loading',
  why: null,
  errors: [],
  savedAt: null,
  etag: null,
  base: null,
  left: [],
  theirs: null,
  published: null,
  started: false,
  changed: false,
  updatedBy: null,
  report: null,
  checked: null,
  checkError: null,
  offers: {},
  mode: 'diagram',
  textOpen: false,
  panel: 'problems',
  readOnly: false,
}

export const useEditor = create<EditorState>(() => BLANK)

/** Whether asking again may help: nobody answered, the server is not well or has too much to do, or somebody has to sign in again. */
export const passes = (error: ApiError): boolean => error.away || error.status === 401 || error.status === 429 || error.status >= 500

/** Whether there is nothing that could be shown: an empty drawing would say that the workflow is empty. */
export const isUnknown = (state: EditorState): boolean => state.save === 'loading' || (state.save === 'unread' && state.etag === null)

/** Whether the draft is what is published: there is nothing to publish then. */
export const isPublished = (state: EditorState): boolean => state.published !== null && !state.changed && state.save === 'saved' && state.typed === null

/** Whether the last change could not be checked: what the report says is about another definition. */
export const isStale = (state: EditorState): boolean => state.checkError !== null && passes(state.checkError) && state.checked !== state.definition

export const NO_FINDINGS: readonly Finding[] = []
export const findingsOf = (state: EditorState): readonly Finding[] => state.report?.findings ?? NO_FINDINGS

/** How many changes, edits and their undoing, lie between what the server has and what is drawn. */
export function unsentOf({ past, sent }: Pick<EditorState, 'past' | 'sent'>): number {
  const apart = past.findIndex((entry, at) => entry !== sent[at])
  const common = apart < 0 ? Math.min(past.length, sent.length) : apart
  return past.length + sent.length - 2 * common
}
