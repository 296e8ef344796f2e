/** What is done with the editor's state: opening, editing, saving, checking. */
import { ApiError, ask, at, onReach } from '@/api/client'
import type { Draft, Report } from '@/api/types'
import type { Definition } from '@/diagram/definition'
import { t } from '@/messages'
import { difference, isNothing, replay } from './changes'
import { type Edit, EMPTY, keyOrder } from './document'
import { type Kept, forget, isOwn, keep, load } from './keep'
import { takeAllTyped } from './leaving'
import { BLANK, type EditorState, type Typed, type Written, passes, unsentOf, useEditor } from './state'

export * from './state'

const SAVE_AFTER = 600
const CHECK_AFTER = 150
let saveTimer: ReturnType<typeof setTimeout> | undefined
let checkTimer: ReturnType<typeof setTimeout> | undefined
let openTimer: ReturnType<typeof setTimeout> | undefined
let cutOff = false // nobody answered, or nobody was signed in: that the server is reached is a reason to ask again
let checking: AbortController | undefined
let saving = false
let session = 0
let lastEdit = 0
let unanswered: Definition[] = [] // what was sent and nobody answered: the server may have it all the same

// -- opening -------------------------------------------------------------------------------------------------

/** Opens a workflow: the draft of the server, with what this browser has that the server has not; `fresh`: it is new. */
export async function open(name: string, fresh = false): Promise<void> {
  const mine = ++session
  clearTimeout(saveTimer)
  clearTimeout(checkTimer)
  clearTimeout(openTimer)
  unanswered = []
  useEditor.setState({ ...BLANK, name, definition: EMPTY(name), offers: useEditor.getState().offers, readOnly: useEditor.getState().readOnly })
  await fetchDraft(name, fresh, mine)
}

async function fetchDraft(name: string, fresh: boolean, mine: number): Promise<void> {
  const { kept, left } = await load(name)
  const waits = () => mine === session && ['loading', 'unread'].includes(useEditor.getState().save) // else it was edited meanwhile
  if (waits()) useEditor.setState({ left })
  try {
    if (fresh && !kept?.etag) throw new ApiError(404, 'new', '')
    const { value } = await ask<Draft>('GET', at`/api/workflows/${name}`)
    if (waits()) opened(kept, value)
  } catch (error) {
    if (waits()) notOpened(kept, error)
  }
  laterCheck(0)
}

/** What could not be loaded is asked for again; what is shown meanwhile stays. */
export function openAgain(after = 0): void {
  clearTimeout(openTimer)
  const mine = session
  openTimer = setTimeout(() => {
    const { name, save } = useEditor.getState()
    if (mine === session && save === 'unread') void fetchDraft(name, false, mine)
  }, after)
}

function opened(kept: Kept | undefined, draft: Draft): void {
  const facts = { ...factsOf(draft), ...keptTyped(kept) }
  const same = kept !== undefined && (kept.etag === draft.etag || isOwn(draft, kept))
  unanswered = kept?.unanswered ?? []
  if (!kept?.unsaved) {
    useEditor.setState({ ...facts, ...writtenIn(draft), past: same ? kept.past : [], sent: same ? kept.past : [], future: same ? kept.future : [], save: 'saved', base: draft.definition as unknown as Definition })
    return
  }
  const { definition, past, future } = kept
  useEditor.setState({ ...facts, written: keptText(kept) ?? writtenIn(draft).written, definition, past, future, sent: keptSent(kept), ...(same ? { save: 'unsaved', base: draft.definition as unknown as Definition } : { save: 'conflict', theirs: draft, base: kept.base ?? null }) })
  if (same) laterSave()
}

/** What a closed tab left behind is drawn, as an edit that can be undone; or it is thrown away. */
export function settleLeft(take: boolean): void {
  const [first, ...left] = useEditor.getState().left
  if (!first) return
  useEditor.setState({ left })
  if (take) edit('left', () => first.definition)
  void forget(first)
}

/** There is none yet, or it could not be had: what this browser has is still there, and what nobody edited is not sent. */
function notOpened(kept: Kept | undefined, error: unknown): void {
  const missing = error instanceof ApiError && error.status === 404
  const why = error instanceof Error ? error.message : null
  cutOff = error instanceof ApiError && (error.away || error.status === 401)
  if (!missing && error instanceof ApiError && passes(error) && error.status !== 401) openAgain(4_000)
  if (!kept || (missing && !kept.unsaved && kept.typed === undefined)) {
    useEditor.setState({ save: missing ? 'missing' : 'unread', why })
    return
  }
  const { definition, past, future } = kept
  useEditor.setState({ ...keptTyped(kept), definition, past, future, sent: keptSent(kept), base: kept.base ?? null, written: keptText(kept), etag: missing ? null : kept.etag, why, save: !missing ? (kept.unsaved ? 'away' : 'unread') : kept.etag ? 'gone' : 'unsaved' })
  if (missing && !kept.etag) laterSave()
}

/** Of changes that were kept the server lacks the last ones. */
const keptSent = ({ past, unsaved, unsent = 1 }: Kept) => (unsaved ? past.slice(0, Math.max(0, past.length - unsent)) : past)

const keptText = (kept: Kept): Written | null => (kept.text === undefined ? null : { text: kept.text, of: kept.definition })

/** Text that could not be read is there again, and is seen. */
const keptTyped = (kept: Kept | undefined): Partial<EditorState> => (kept?.typed === undefined ? {} : { typed: { text: kept.typed, refused: true }, textOpen: true })

function writtenIn(draft: Draft): { definition: Definition; written: Written } {
  const definition = draft.definition as unknown as Definition
  return { definition, written: { text: draft.text, of: definition } }
}

function factsOf(draft: Draft) {
  return { etag: draft.etag, published: draft.published_version ?? null, started: draft.started, changed: draft.changed, updatedBy: draft.updated_by ?? null, savedAt: draft.updated_at ? Date.parse(draft.updated_at) : null, why: null, errors: [] }
}

// -- editing -------------------------------------------------------------------------------------------------

let takeTyped: () => void = () => undefined

/** Who holds text that is being typed: it is asked to take it before the drawing is changed by something else. */
export function typing(take: () => void): () => void {
  takeTyped = take
  return () => {
    if (takeTyped === take) takeTyped = () => undefined
  }
}

/** Typed text that is not taken yet, and whether it cannot be; null where it was. It is kept in the browser. */
export function holdTyped(typed: Typed | null): void {
  const before = useEditor.getState().typed
  useEditor.setState({ typed })
  if (typed?.refused || before?.refused) void keepNow(useEditor.getState().save !== 'saved')
}

/** Does it, unless typed text that cannot be read would be lost by it: then it is asked for. */
function unlessTyped(act: () => void): void {
  if (useEditor.getState().typed) takeTyped()
  if (useEditor.getState().typed?.refused) useEditor.setState({ asking: act })
  else act()
}

/** The answer: the edit is made and the typed text goes, or nothing is done. */
export function answer(go: boolean): void {
  const { asking } = useEditor.getState()
  useEditor.setState({ asking: null, ...(go ? { typed: null } : {}) })
  if (go) asking?.()
}

/** Changes the definition, so that it can be undone, is saved and is checked; `done` is told once it has been changed, with what was before. */
export function edit(label: string, change: Edit, done?: (before: Definition) => void): void {
  if (!useEditor.getState().readOnly) unlessTyped(() => apply(label, change, done))
}

function apply(label: string, change: Edit, done?: (before: Definition) => void): void {
  const { definition, past, readOnly } = useEditor.getState()
  if (readOnly) return
  const next = change(definition)
  if (next === definition) return
  const entry = difference(label, definition, next)
  if (isNothing(entry)) return
  useEditor.setState({ definition: next, past: [...past, entry], future: [] })
  changed()
  done?.(definition)
}

/** What somebody wrote as text: the definition that it says, and the text itself with its comments. */
export function writeText(label: string, text: string, said: Definition): void {
  const { definition, written, readOnly } = useEditor.getState()
  if (readOnly) return
  if (written?.text === text && written.of === said) {
    holdTyped(null)
    return
  }
  useEditor.setState({ written: { text, of: said }, typed: null })
  if (said !== definition) apply(label, () => said)
  if (useEditor.getState().definition === definition) {
    useEditor.setState({ written: { text, of: definition } })
    changed()
  }
}

export const undo = (): void => void (useEditor.getState().readOnly || unlessTyped(back))
export const redo = (): void => void (useEditor.getState().readOnly || unlessTyped(forth))

function back(): void {
  const { definition, past, future } = useEditor.getState()
  const entry = past.at(-1)
  if (!entry) return
  useEditor.setState({ definition: replay(definition, entry, true), past: past.slice(0, -1), future: [...future, entry] })
  changed()
}

function forth(): void {
  const { definition, past, future } = useEditor.getState()
  const entry = future.at(-1)
  if (!entry) return
  useEditor.setState({ definition: replay(definition, entry, false), past: [...past, entry], future: future.slice(0, -1) })
  changed()
}

export const select = (...ids: string[]): void => useEditor.setState({ selection: ids })

const stillThere = (selection: string[], definition: Definition): string[] => selection.filter((id) => id.startsWith('@') || id.startsWith('wire:') || id.startsWith('note:') || id.startsWith('group:') || definition.steps[id])

function changed(): void {
  const { save, definition, selection } = useEditor.getState()
  const waits = save === 'conflict' || save === 'gone' // for somebody to decide
  useEditor.setState({
    save: waits ? save : 'unsaved',
    selection: stillThere(selection, definition),
  })
  void keepNow()
  if (!waits) laterSave()
  laterCheck(CHECK_AFTER)
}

async function keepNow(unsaved = true): Promise<void> {
  const { name, definition, etag, base, past, future, written, typed } = useEditor.getState()
  await keep({ name, definition, etag, base, unsaved, past, future, unsent: unsentOf(useEditor.getState()), ...(unanswered.length > 0 ? { unanswered } : {}), ...(typed?.refused ? { typed: typed.text } : {}), ...(written?.of === definition ? { text: written.text } : {}) })
}

// -- saving --------------------------------------------------------------------------------------------------

function laterSave(after = SAVE_AFTER): void {
  clearTimeout(saveTimer)
  const { written } = useEditor.getState()
  if (!yaml && written && hasComments(written)) void loadYaml().catch(() => undefined) // there is no time for it when the page is closed
  saveTimer = setTimeout(() => void saveNow(), after)
}

/** Sends what is not saved yet; what somebody else saved meanwhile is never written over. */
export async function saveNow(outlives = false): Promise<boolean> {
  clearTimeout(saveTimer)
  const { name, definition, etag, save, past: sent } = useEditor.getState()
  if (save === 'conflict' || save === 'gone' || save === 'saved' || save === 'loading' || save === 'unread') return save === 'saved'
  if (saving) {
    laterSave(100)
    return false
  }
  saving = true
  const mine = session
  useEditor.setState({ save: 'saving' })
  try {
    const headers: Record<string, string> = etag ? { 'If-Match': `"${etag}"` } : { 'If-None-Match': '*' }
    const body = await bodyOf(definition)
    if (unanswered.at(-1) !== definition) unanswered = [...unanswered, definition]
    const { value } = await ask<Draft>('PUT', at`/api/workflows/${name}`, { ...body, headers, outlives })
    if (mine !== session) return false
    unanswered = []
    const still = useEditor.getState().definition === definition && (body.text === undefined || body.text === useEditor.getState().written?.text || useEditor.getState().written?.of !== definition)
    useEditor.setState({ ...factsOf(value), savedAt: Date.now(), base: definition, sent, save: still ? 'saved' : 'unsaved', ...(still ? { written: { text: value.text, of: definition } } : {}) })
    if (!etag && location.search) history.replaceState(history.state, '', location.pathname)
    await keepNow(!still)
    if (!still) laterSave()
    return still
  } catch (error) {
    if (mine === session) await notSaved(error, definition)
    return false
  } finally {
    saving = false
  }
}

let yaml: typeof import('./text/yaml') | undefined

async function loadYaml(): Promise<typeof import('./text/yaml')> {
  yaml = await import('./text/yaml')
  return yaml
}

const hasComments = ({ text }: Written): boolean => /(^|\s)#/m.test(text)

/** Sends at once what waits for a pause in the editing: the page may be closed next. What cannot be sent is kept in the browser. */
function saveBeforeGone(): void {
  takeAllTyped()
  takeTyped()
  if (useEditor.getState().save === 'unsaved' && !saving) void saveNow(true)
}

globalThis.addEventListener?.('beforeunload', saveBeforeGone) // a browser waits half a second for the next, and a busy machine is slower
globalThis.addEventListener?.('pagehide', saveBeforeGone)
globalThis.document?.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'hidden') saveBeforeGone()
})

/** The text where there is one for what is drawn, or one with comments that an edit must not lose; else JSON. */
async function bodyOf(definition: Definition): Promise<{ text?: string; json?: unknown }> {
  const { written } = useEditor.getState()
  if (written?.of === definition) return { text: written.text }
  if (!written || !hasComments(written)) return { json: keyOrder(definition) }
  const { patched } = yaml ?? (await loadYaml().catch(() => {
    throw new ApiError(0, 'away', t('error.away'))
  }))
  return { text: patched(written.text, written.of, definition) }
}

async function notSaved(error: unknown, sent: Definition): Promise<void> {
  if (!(error instanceof ApiError)) throw error
  if (passes(error)) {
    void keepNow()
    useEditor.setState({ save: 'away' })
    laterSave(4_000)
    return
  }
  if (error.status !== 412) {
    unanswered = unanswered.filter((each) => each !== sent)
    useEditor.setState({ save: 'refused', why: error.detail, errors: error.errors })
    return
  }
  try {
    const { value } = await ask<Draft>('GET', at`/api/workflows/${useEditor.getState().name}`)
    const own = isOwn(value, { unanswered }) // then only the answer was lost, and it goes on from there
    useEditor.setState(own ? { etag: value.etag, base: value.definition as unknown as Definition, save: 'unsaved' } : { save: 'conflict', theirs: value })
    if (own) laterSave(0)
  } catch (missing) {
    if (!(missing instanceof ApiError)) throw missing
    if (missing.status === 404) useEditor.setState({ save: 'gone' })
    else {
      useEditor.setState({ save: 'away' })
      laterSave(4_000)
    }
  }
}

/** The workflow was deleted meanwhile: what is drawn becomes a new draft under its name. */
export function saveAgain(): void {
  useEditor.setState({ etag: null, published: null, started: false, save: 'unsaved' })
  void saveNow()
}

onReach((reach) => {
  if (reach !== 'here') return
  const { save, checkError } = useEditor.getState()
  if (save === 'away') laterSave(50)
  if (save === 'unread' && cutOff) openAgain(50)
  if (checkError?.away || checkError?.status === 401) {
    clearTimeout(checkTimer)
    checkTimer = setTimeout(() => void checkNow(), 50)
  }
})

/** Ends a conflict: mine is saved over theirs, or theirs is taken (and mine can be undone to). */
export function settle(whose: 'mine' | 'theirs'): void {
  const { theirs, definition, past, selection } = useEditor.getState()
  if (!theirs) return
  if (whose === 'theirs') {
    const next = theirs.definition as unknown as Definition
    const now = [...past, difference('theirs', definition, next)]
    useEditor.setState({ ...factsOf(theirs), ...writtenIn(theirs), past: now, sent: now, future: [], selection: stillThere(selection, next), save: 'saved', base: next, theirs: null })
    void keepNow(false)
    laterCheck(0)
    return
  }
  useEditor.setState({ etag: theirs.etag, base: theirs.definition as unknown as Definition, theirs: null, save: 'unsaved' })
  laterSave(0)
}

/** Looks whether somebody else saved. Where nothing is unsaved here theirs is shown, which can be undone, and whose it is comes back; text that is being typed is kept, and the two can be compared. */
export async function lookAgain(): Promise<string | null> {
  const { name, etag, save } = useEditor.getState()
  if (save !== 'saved' || etag === null) return null
  const asked = session
  const still = () => asked === session && useEditor.getState().save === 'saved' && useEditor.getState().etag === etag
  try {
    const { value } = await ask<Draft>('GET', at`/api/workflows/${name}`)
    if (!still()) return null
    const { published, started, changed: differs, typed } = useEditor.getState()
    if (value.etag !== etag) {
      useEditor.setState(typed ? { save: 'conflict', theirs: value } : { theirs: value })
      if (!typed) settle('theirs')
      return typed ? null : (value.updated_by ?? '')
    }
    if (value.published_version !== published || value.started !== started || value.changed !== differs) useEditor.setState(factsOf(value))
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    if (error.status === 404 && still()) useEditor.setState({ save: 'gone' })
  }
  return null
}

/** After publishing or discarding: what the server has now. */
export async function reload(): Promise<void> {
  const { value } = await ask<Draft>('GET', at`/api/workflows/${useEditor.getState().name}`)
  const definition = value.definition as unknown as Definition
  const same = JSON.stringify(keyOrder(definition)) === JSON.stringify(keyOrder(useEditor.getState().definition))
  useEditor.setState({ ...factsOf(value), ...(same ? { written: { text: value.text, of: useEditor.getState().definition } } : { ...writtenIn(value), past: [], future: [] }), sent: same ? useEditor.getState().past : [], save: 'saved', base: definition, theirs: null })
  await keepNow(false)
  laterCheck(0)
}

// -- checking ------------------------------------------------------------------------------------------------

/** After a pause; the first edit after one is checked at once, so that its finding does not wait. */
function laterCheck(after: number): void {
  clearTimeout(checkTimer)
  const rested = performance.now() - lastEdit > CHECK_AFTER
  lastEdit = performance.now()
  checkTimer = setTimeout(() => void checkNow(), rested ? Math.min(after, 0) : after)
}

/** Asks the server what it says of the definition as it is now; an answer about an older one is not used. */
export async function checkNow(): Promise<void> {
  const { definition } = useEditor.getState()
  if (Object.keys(definition.steps).length === 0) {
    useEditor.setState({ report: null, checked: definition, checkError: null })
    return
  }
  checking?.abort()
  checking = new AbortController()
  try {
    const { value } = await ask<Report>('POST', '/api/check', { json: { definition }, signal: checking.signal })
    if (useEditor.getState().definition === definition) useEditor.setState({ report: value, checked: definition, checkError: null })
  } catch (error) {
    if (error instanceof ApiError && useEditor.getState().definition === definition) {
      const later = passes(error)
      if (later) {
        clearTimeout(checkTimer)
        checkTimer = setTimeout(() => void checkNow(), 3_000)
      }
      useEditor.setState({ checkError: error, ...(later ? {} : { report: null, checked: definition }) })
    }
  }
}
