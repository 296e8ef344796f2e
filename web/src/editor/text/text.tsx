/** The definition as text, beside the drawing: both are edited, and each follows the other. */
import '../../styles/sides.css'
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { yaml } from '@codemirror/lang-yaml'
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language'
import { type Diagnostic, lintGutter, setDiagnostics } from '@codemirror/lint'
import { Annotation, EditorState, type Text } from '@codemirror/state'
import { EditorView, drawSelection, highlightActiveLine, highlightSpecialChars, keymap, lineNumbers } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import { useEffect, useRef, useState } from 'react'
import { ApiError, ask } from '@/api/client'
import type { Finding, Report } from '@/api/types'
import type { Definition } from '@/diagram/definition'
import { t } from '@/messages'
import { Button, IconButton } from '@/ui'
import { nonce } from '@/ui/forms'
import { copyText } from '@/ui/json'
import { findingText } from '../problems/texts'
import { canonical } from '../canonical'
import { holdTyped, select, typing, useEditor, writeText } from '../store'
import { reveal } from '../view'
import { patched, readYaml, toYaml } from './yaml'

const FromDrawing = Annotation.define<boolean>()
const RESTED = 300

const colours = HighlightStyle.define([
  { tag: [tags.definition(tags.propertyName), tags.propertyName], color: 'var(--accent)' },
  { tag: tags.comment, color: 'var(--text-3)', fontStyle: 'italic' },
  { tag: [tags.string, tags.content], color: 'var(--text)' },
  { tag: [tags.number, tags.bool, tags.null, tags.keyword], color: 'var(--ok)' },
  { tag: [tags.punctuation, tags.separator, tags.squareBracket, tags.brace], color: 'var(--text-2)' },
])

const look = EditorView.theme({
  '&': { backgroundColor: 'var(--surface)', color: 'var(--text)' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '18px' },
  '.cm-content': { caretColor: 'var(--text)' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-gutters': { backgroundColor: 'var(--surface)', color: 'var(--text-3)', borderRight: '1px solid var(--line)' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'var(--hover)' },
  '&.cm-focused .cm-selectionBackground, .cm-selectionBackground': { backgroundColor: 'var(--accent-soft) !important' },
  '.cm-tooltip': { backgroundColor: 'var(--raised)', color: 'var(--text)', border: '1px solid var(--line-2)', borderRadius: '5px', maxWidth: '420px' },
  '.cm-diagnostic': { borderLeftWidth: '3px', fontFamily: 'var(--font)', fontSize: '12px' },
})

/** The text that says what the drawing says now. */
function textNow(): string {
  const { written, definition } = useEditor.getState()
  if (!written) return toYaml(definition)
  return written.of === definition ? written.text : patched(written.text, written.of, definition)
}

interface Held {
  line: number
  message: string
}

export default function TextView() {
  const host = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView>(null)
  const [held, setHeld] = useState<Held | null>(null)
  const readOnly = useEditor((state) => state.readOnly !== false)
  useEffect(() => {
    if (!host.current) return
    const made = begin(host.current, readOnly, setHeld)
    view.current = made.view
    return made.end
  }, [readOnly])
  return (
    <section className="textpane" aria-label={t('text.label')}>
      <div className="row h-[34px] flex-none border-b border-line px-3 t12">
        <b className="grow">{t('text.title')}</b>
        <Button kind="ghost" size="s" icon="copy" onClick={() => void copyText(view.current?.state.doc.toString() ?? '')}>
          {t('act.copy')}
        </Button>
        <Button kind="ghost" size="s" icon="download" onClick={() => download(view.current)}>
          {t('text.download')}
        </Button>
        <IconButton icon="cross" size="s" label={t('text.close')} onClick={() => useEditor.setState({ textOpen: false })} />
      </div>
      <div ref={host} className="min-h-0 flex-1 col overflow-hidden" />
      {held ? (
        <div className="fnote bad m-2! flex-none" role="alert">
          <div>{t('text.held', { line: held.line, why: held.message })}</div>
          <div className="mut">{t('text.heldDetail')}</div>
          <div className="row mt-1.5">
            <Button size="s" onClick={() => view.current && goToLine(view.current, held.line)}>
              {t('text.goTo', { line: held.line })}
            </Button>
            <Button
              size="s"
              onClick={() => {
                holdTyped(null)
                setHeld(null)
                if (view.current) follow(view.current, true)
              }}
            >
              {t('text.back')}
            </Button>
          </div>
        </div>
      ) : null}
    </section>
  )
}

function begin(parent: HTMLElement, readOnly: boolean, setHeld: (held: Held | null) => void): { view: EditorView; end: () => void } {
  let timer: ReturnType<typeof setTimeout> | undefined
  let pending = false
  let asking: AbortController | undefined
  const { name } = useEditor.getState()

  /** Asks the server of the text as it is; what it does not refuse goes into the drawing. */
  const check = async (apply: boolean) => {
    asking?.abort()
    asking = new AbortController()
    const text = view.state.doc.toString()
    const read = readYaml(text)
    const found = await asked(text, asking.signal)
    if (view.state.doc.toString() !== text || useEditor.getState().name !== name) return
    const refused = found?.find((each) => each.refused)
    const held = refused ?? ('misread' in read ? { line: read.misread.line, message: read.misread.message || t('text.noDefinition') } : undefined)
    if (found) view.dispatch(setDiagnostics(view.state, marks(view.state.doc, found)))
    setHeld(held ? { line: held.line, message: held.message } : null)
    if (!apply) return
    pending = false
    if (!held && 'definition' in read) writeText(t('text.did'), text, sameParts(read.definition))
    else holdTyped({ text, refused: true })
  }
  const send = () => {
    clearTimeout(timer)
    if (pending) void check(true)
  }
  /** Before the view goes, or because the drawing goes on: what can be read is taken at once. */
  const flush = () => {
    clearTimeout(timer)
    if (!pending || useEditor.getState().name !== name) return // else it would become the text of another workflow
    pending = false
    const text = view.state.doc.toString()
    const read = readYaml(text)
    if ('definition' in read) writeText(t('text.did'), text, sameParts(read.definition))
    else holdTyped({ text, refused: true })
  }
  const held = useEditor.getState().typed
  const view = new EditorView({
    parent,
    state: EditorState.create({
      doc: held?.text ?? textNow(),
      extensions: [
        lineNumbers(),
        lintGutter(),
        history(),
        drawSelection(),
        highlightActiveLine(),
        highlightSpecialChars(),
        yaml(),
        syntaxHighlighting(colours),
        look,
        keymap.of([...historyKeymap, ...defaultKeymap]),
        EditorView.cspNonce.of(nonce()),
        EditorView.contentAttributes.of({ 'aria-label': t('text.label'), spellcheck: 'false', tabindex: '0' }),
        EditorState.readOnly.of(readOnly),
        EditorView.updateListener.of((update) => {
          if (update.selectionSet && view.hasFocus) selectAt(update.state)
          if (!update.docChanged || update.transactions.some((each) => each.annotation(FromDrawing))) return
          pending = true
          holdTyped({ text: update.state.doc.toString(), refused: false })
          clearTimeout(timer)
          timer = setTimeout(send, RESTED)
        }),
      ],
    }),
  })
  void check(held !== null)
  const untyping = typing(flush)
  const unsubscribe = useEditor.subscribe((now, before) => {
    if (now.definition === before.definition) return
    const own = now.written?.of === now.definition && now.written.text === view.state.doc.toString()
    if (own) return
    if (pending) flush()
    if (useEditor.getState().typed) return
    if (follow(view)) void check(false)
  })
  view.contentDOM.addEventListener('blur', send)
  return {
    view,
    end: () => {
      flush()
      untyping()
      unsubscribe()
      asking?.abort()
      view.destroy()
    },
  }
}

/** Parts that say the same stay the same objects, so that the drawing does not begin anew. */
function sameParts(read: Definition): Definition {
  const { definition } = useEditor.getState()
  if (canonical(read) === canonical(definition)) return definition
  const steps = Object.fromEntries(Object.entries(read.steps).map(([name, step]) => [name, canonical(step) === canonical(definition.steps[name]) ? (definition.steps[name] ?? step) : step]))
  return { ...read, steps }
}

/** Brings the text in step with the drawing; only what differs is touched. False where nothing did. */
function follow(view: EditorView, always = false): boolean {
  const next = textNow()
  const now = view.state.doc.toString()
  if (next === now) return always
  let head = 0
  while (head < now.length && head < next.length && now[head] === next[head]) head++
  let tail = 0
  while (tail < now.length - head && tail < next.length - head && now.at(-1 - tail) === next.at(-1 - tail)) tail++
  view.dispatch({ changes: { from: head, to: now.length - tail, insert: next.slice(head, next.length - tail) }, annotations: FromDrawing.of(true) })
  const { definition } = useEditor.getState()
  useEditor.setState({ written: { text: next, of: definition } })
  return true
}

interface Mark {
  line: number
  column?: number
  message: string
  severity: Finding['severity']
  refused: boolean
}

/** What the server says of the text; null where nobody answered. */
async function asked(text: string, signal: AbortSignal): Promise<Mark[] | null> {
  try {
    const { value } = await ask<Report>('POST', '/api/check', { text, signal })
    return value.findings.flatMap((finding): Mark[] => (finding.line ? [{ line: finding.line, message: findingText(finding).sentence, severity: finding.severity, refused: false }] : []))
  } catch (error) {
    if (!(error instanceof ApiError) || error.away || error.status >= 500 || error.status === 401) return null
    const list = error.errors as { line?: number | null; column?: number | null; message: string }[]
    if (list.length === 0) return [{ line: 1, message: error.detail, severity: 'error', refused: true }]
    return list.map((each) => ({ line: each.line ?? 1, column: each.column ?? undefined, message: each.message, severity: 'error', refused: true }))
  }
}

function marks(document: Text, found: Mark[]): Diagnostic[] {
  return found.map(({ line, column, message, severity }) => {
    const at = document.line(Math.max(1, Math.min(line, document.lines)))
    const from = Math.min(at.to, at.from + (column ? column - 1 : at.text.length - at.text.trimStart().length))
    return { from, to: Math.max(from, at.to), severity, message }
  })
}

/** The step that the cursor is in is the one that is selected. */
function selectAt(state: EditorState): void {
  const { definition, selection } = useEditor.getState()
  for (let number = state.doc.lineAt(state.selection.main.head).number; number > 0; number--) {
    const line = state.doc.line(number).text
    if (/^\S/.test(line) && !line.startsWith('#')) return
    const name = /^ {1,4}(?:"([^"]+)"|'([^']+)'|([^\s"'#][^:#]*?)):(?:\s|$)/.exec(line)
    const found = name?.[1] ?? name?.[2] ?? name?.[3]
    if (found && definition.steps[found]) {
      if (selection[0] !== found || selection.length > 1) {
        select(found)
        reveal(found)
      }
      return
    }
  }
}

function goToLine(view: EditorView, number: number): void {
  const line = view.state.doc.line(Math.max(1, Math.min(number, view.state.doc.lines)))
  view.dispatch({ selection: { anchor: line.from }, effects: EditorView.scrollIntoView(line.from, { y: 'center' }) })
  view.focus()
}

function download(view: EditorView | null): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([view?.state.doc.toString() ?? ''], { type: 'application/yaml' }))
  link.download = `${useEditor.getState().name}.yaml`
  link.click()
  URL.revokeObjectURL(link.href)
}
