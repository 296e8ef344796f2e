/** The editor of one workflow: bar, palette, canvas, inspector, and a panel below. */
import '../styles/editor.css'
import { ReactFlowProvider } from '@xyflow/react'
import { useParams } from '@tanstack/react-router'
import { useEffect, useMemo, useState, useSyncExternalStore } from 'react'
import { useSpokenTasks } from '@/api/queries'
import { useRights } from '@/api/rights'
import { useTitle } from '@/app/heading'
import { isAsked } from '@/app/keys'
import { part, usePreloaded } from '@/app/part'
import { TracePanel } from '@/diagram/trace-panel'
import { usePlayer } from '@/diagram/player'
import { t, want } from '@/messages'
import { Button, Dialog, IconButton, Tabs } from '@/ui'
import { dismiss } from '@/ui/toasts'
import { EditorCanvas } from './canvas'
import { Chooser } from './chooser'
import { WireHint } from './hint'
import { KeysDialog } from './keys-dialog'
import { useOthers } from './others'
import { Palette } from './palette'
import { Removing } from './removing'
import { type Hooks, pasteText, pressed, useEditorCommands } from './shortcuts'
import { answer, isStale, isUnknown, open, saveNow, settleLeft, useEditor } from './store'
import { TopBar } from './topbar'
import Inspector from './inspector/inspector'
import Problems from './problems/problems'
import { Tour } from './templates/tour'
import { NotLoaded, Unsent } from './unsent'
import { focusDrawing, showAll } from './view'

want('editing')
want('pages')

/** What can be opened beside the drawing: a dialog that cannot be had says so in a dialog, so that it can be left. */
const asDialog =
  (title: 'editor.publish' | 'editor.compare' | 'ru.start') =>
  (said: React.ReactNode, { onClose }: { onClose: () => void }) => (
    <Dialog open onClose={onClose} title={t(title)}>
      {said}
    </Dialog>
  )
const TextView = part(() => import('./text/text'))
const StartDialog = part(() => import('@/runs/start'), asDialog('ru.start'))
const Publish = part(() => import('./publish/publish'), asDialog('editor.publish'))
const Compare = part(() => import('./publish/compare'), asDialog('editor.compare'))
const Try = part(() => import('./try/try'))
const Pinned = part(() => import('./try/pinned'))
const PARTS_LATER = [Publish, Compare, TextView, Try, Pinned, StartDialog, { preload: () => import('./text/yaml').catch(() => undefined) }]

/** What is said here and can be acted on: elsewhere it would act on another workflow, or on none. */
const NEWS = ['published', 'loose', 'removed', 'others', 'copied', 'pasted']

export default function EditorPage() {
  const { name = '' } = useParams({ strict: false })
  useEffect(() => {
    void open(name, new URLSearchParams(location.search).has('new'))
    return () => NEWS.forEach(dismiss)
  }, [name])
  useOffers()
  useOthers()
  useReadOnly()
  useTitle(t('editor.title', { name }))
  const unknown = useEditor(isUnknown)
  const loaded = useEditor((state) => state.name) === name && !unknown
  return <ReactFlowProvider>{loaded ? <Editor /> : <NotLoaded />}</ReactFlowProvider>
}

/** The boxes that can be had, in the editor's own hands. */
function useOffers(): void {
  const tasks = useSpokenTasks()
  useEffect(() => {
    if (tasks.data) useEditor.setState({ offers: Object.fromEntries(tasks.data.items.map((offer) => [offer.name, offer])) })
  }, [tasks.data])
}

/** Below 720 px, and by who may not change workflows, the drawing can be looked at only. */
function useReadOnly(): void {
  const looksOn = !useRights().authors
  useEffect(() => {
    const narrow = matchMedia('(max-width: 719px)')
    const apply = () => useEditor.setState({ readOnly: looksOn ? 'role' : narrow.matches && 'narrow' })
    apply()
    narrow.addEventListener('change', apply)
    return () => narrow.removeEventListener('change', apply)
  }, [looksOn])
}

function Editor() {
  const textOpen = useEditor((state) => state.textOpen)
  const mode = useEditor((state) => state.mode)
  const readOnly = useEditor((state) => state.readOnly)
  const [dialog, setDialog] = useState<'publish' | 'start' | 'keys' | 'compare' | null>(null)
  const [chosen, setFolded] = useFolded()
  const folded = readOnly ? { ...chosen, palette: true } : chosen // there is nothing to take from it
  const sizes = useSizes()
  const hooks = useMemo<Hooks>(() => ({ openPublish: () => void saveNow().then(() => setDialog('publish')), openStart: () => setDialog('start'), openTry: () => useEditor.setState({ panel: 'try' }), showKeys: () => setDialog('keys') }), [])
  const commands = useEditorCommands(hooks)
  useEffect(focusDrawing, [])
  useEffect(() => {
    if (textOpen) showAll()
  }, [textOpen])
  usePreloaded(PARTS_LATER)
  useEffect(() => {
    const anywhere = (event: KeyboardEvent) => {
      const onBody = event.target === document.body
      if (!event.defaultPrevented && !isAsked() && pressed(event, commands, onBody)) event.preventDefault()
    }
    const pasted = (event: ClipboardEvent) => {
      const target = event.target as HTMLElement
      if (usePlayer.getState().game || target.closest('input, textarea, [contenteditable], .cm-editor')) return
      pasteText(event.clipboardData?.getData('text/plain') ?? '')
    }
    globalThis.addEventListener('keydown', anywhere)
    document.addEventListener('paste', pasted)
    return () => {
      globalThis.removeEventListener('keydown', anywhere)
      document.removeEventListener('paste', pasted)
    }
  }, [commands])
  return (
    <div style={sizes.style} className={`ed ${folded.palette ? 'nopal' : ''} ${folded.inspector ? 'noinsp' : ''} ${folded.panel ? 'nobot' : ''}`}>
      <TopBar onPublish={hooks.openPublish} onTry={hooks.openTry} />
      {folded.palette ? null : <Palette />}
      <main className="edmain">
        {readOnly ? <p className="narrow">{t(readOnly === 'role' ? 'editor.looksOn' : 'editor.narrow')}</p> : null}
        {readOnly ? null : <LeftBehind />}
        {readOnly ? null : <Unsent onCompare={() => setDialog('compare')} />}
        <div
          className={`edcanvas ${mode === 'petri' ? 'mode-petri' : ''}`}
          role="application"
          aria-label={t('diagram.label', { name: useEditor.getState().name })}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: the canvas is walked with the arrow keys
          tabIndex={0}
          onKeyDown={(event) => {
            if (pressed(event, commands, true)) {
              event.preventDefault()
              event.stopPropagation()
            }
          }}
        >
          <EditorCanvas />
        </div>
        {textOpen ? (
          <div className="edtext">
            <TextView />
          </div>
        ) : null}
      </main>
      {folded.panel ? null : <Bottom />}
      {folded.inspector ? null : (
        <aside className="insp" aria-label={t('editor.inspector')}>
          <div className="inspclose">
            <IconButton icon="cross" size="s" label={t('act.close')} onClick={() => setFolded('inspector')} />
          </div>
          <fieldset className="contents" disabled={readOnly !== false}>
            <Inspector />
          </fieldset>
        </aside>
      )}
      <section className="folds" aria-label={t('editor.sizes')}>
        {folded.palette ? null : <Grip part="palette" sizes={sizes} />}
        {folded.inspector ? null : <Grip part="inspector" sizes={sizes} />}
        {folded.panel ? null : <Grip part="panel" sizes={sizes} />}
        {(readOnly ? (['panel', 'inspector'] as const) : (['palette', 'panel', 'inspector'] as const)).map((part) => (
          <Fold key={part} part={part} folded={folded[part]} onClick={() => setFolded(part)} />
        ))}
      </section>
      <Chooser />
      <WireHint />
      <Tour />
      <TypedText />
      <Removing />
      <KeysDialog open={dialog === 'keys'} onClose={() => setDialog(null)} commands={commands} />
      {dialog === 'compare' ? (
        <Compare onClose={() => setDialog(null)} />
      ) : null}
      {dialog === 'publish' ? (
        <Publish onClose={() => setDialog(null)} onStart={hooks.openStart} />
      ) : null}
      {dialog === 'start' ? (
        <StartDialog workflow={useEditor.getState().name} onClose={() => setDialog(null)} />
      ) : null}
    </div>
  )
}

/** Another tab was closed before the server had its changes: they can be had. */
function LeftBehind() {
  const left = useEditor((state) => (state.save === 'conflict' || state.save === 'gone' ? 0 : state.left.length)) // one question after the other
  if (left === 0) return null
  return (
    <div className="narrow row" role="status">
      <span className="grow">{t('editor.left', { n: left })}</span>
      <Button size="s" onClick={() => settleLeft(true)}>
        {t('editor.leftTake')}
      </Button>
      <Button size="s" onClick={() => settleLeft(false)}>
        {t('editor.leftDrop')}
      </Button>
    </div>
  )
}

/** An edit of the drawing would replace typed text that cannot be read: which of the two? */
function TypedText() {
  const asking = useEditor((state) => state.asking !== null)
  return (
    <Dialog
      open={asking}
      onClose={() => answer(false)}
      title={t('text.replaceTitle')}
      detail={t('text.replaceDetail')}
      actions={
        <>
          <Button kind="primary" onClick={() => answer(false)}>
            {t('text.replaceNot')}
          </Button>
          <Button kind="danger" onClick={() => answer(true)}>
            {t('text.replace')}
          </Button>
        </>
      }
    />
  )
}

const PARTS = { palette: 'palette.label', panel: 'editor.panel', inspector: 'editor.inspector' } as const

function Fold({ part, folded, onClick }: { part: keyof typeof PARTS; folded: boolean; onClick: () => void }) {
  const what = t(PARTS[part])
  const icon = part === 'panel' ? 'down' : part === 'palette' ? (folded ? 'right' : 'left') : folded ? 'left' : 'right'
  return <IconButton icon={icon} size="s" className={`fold ${part} ${folded ? 'folded' : ''}`} aria-expanded={!folded} label={t(folded ? 'editor.unfold' : 'editor.fold', { what })} onClick={onClick} />
}

type Folded = Record<'palette' | 'inspector' | 'panel', boolean>
const FOLDED = 'penstock.folded'

/** Which parts are folded away; remembered. Where the inspector lies over the drawing, it is there for what is selected, or when it is asked for. */
function useFolded(): [Folded, (part: keyof Folded) => void] {
  const [kept, set] = useState<Folded>(() => ({ palette: false, inspector: false, panel: false, ...(JSON.parse(localStorage.getItem(FOLDED) ?? '{}') as Partial<Folded>) }))
  const over = useOver()
  const selected = useEditor((state) => state.selection.join('\n'))
  const [said, setSaid] = useState<{ of: string; folded: boolean } | null>(null)
  const folded = over ? { ...kept, inspector: said?.of === selected ? said.folded : selected === '' } : kept
  return [
    folded,
    (part) => {
      if (over && part === 'inspector') {
        setSaid({ of: selected, folded: !folded.inspector })
        return
      }
      const now = { ...kept, [part]: !kept[part] }
      localStorage.setItem(FOLDED, JSON.stringify(now))
      set(now)
    },
  ]
}

/** Whether the window is so narrow that the inspector lies over the drawing. */
function useOver(): boolean {
  return useSyncExternalStore(
    (changed) => {
      OVER.addEventListener('change', changed)
      return () => OVER.removeEventListener('change', changed)
    },
    () => OVER.matches,
  )
}
const OVER = matchMedia('(max-width: 1279px)')

const WIDTHS = { palette: [176, 120, 360], inspector: [296, 220, 560], panel: [232, 96, 560] } as const
type Part = keyof typeof WIDTHS
const SIZES = 'penstock.sizes'

interface Sizes {
  now: Record<Part, number>
  style: React.CSSProperties
  set: (part: Part, size: number) => void
}

/** How large the parts are; remembered. */
function useSizes(): Sizes {
  const [now, setNow] = useState<Record<Part, number>>(() => ({ palette: WIDTHS.palette[0], inspector: WIDTHS.inspector[0], panel: WIDTHS.panel[0], ...(JSON.parse(localStorage.getItem(SIZES) ?? '{}') as Partial<Record<Part, number>>) }))
  return {
    now,
    style: { '--pal': `${now.palette}px`, '--insp': `${now.inspector}px`, '--bot': `${now.panel}px` } as React.CSSProperties,
    set: (part, size) => {
      const [, least, most] = WIDTHS[part]
      const made = { ...now, [part]: Math.round(Math.min(most, Math.max(least, size))) }
      localStorage.setItem(SIZES, JSON.stringify(made))
      setNow(made)
    },
  }
}

/** The line between two parts: dragged, or moved with the arrow keys. */
function Grip({ part, sizes }: { part: Part; sizes: Sizes }) {
  const [, least, most] = WIDTHS[part]
  const size = sizes.now[part]
  const towards = part === 'palette' ? 1 : -1
  return (
    // biome-ignore lint/a11y/useSemanticElements: an hr cannot be moved
    <div
      role="separator"
      tabIndex={0}
      className={`grip ${part}`}
      aria-label={t(PARTS[part])}
      aria-orientation={part === 'panel' ? 'horizontal' : 'vertical'}
      aria-valuenow={size}
      aria-valuemin={least}
      aria-valuemax={most}
      onKeyDown={(event) => {
        const by = { ArrowLeft: -16, ArrowUp: -16, ArrowRight: 16, ArrowDown: 16 }[event.key]
        if (!by) return
        event.preventDefault()
        sizes.set(part, size + by * towards)
      }}
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={(event) => {
        if (!event.currentTarget.hasPointerCapture(event.pointerId)) return
        sizes.set(part, part === 'palette' ? event.clientX : part === 'inspector' ? innerWidth - event.clientX : innerHeight - event.clientY)
      }}
    />
  )
}

function Bottom() {
  const { authors } = useRights()
  const panel = useEditor((state) => state.panel)
  const report = useEditor((state) => (isStale(state) ? null : state.report))
  const definition = useEditor((state) => state.definition)
  const playing = usePlayer((state) => state.title !== null)
  const count = (severity: string) => report?.findings.filter((finding) => finding.severity === severity).length ?? 0
  const said = [
    count('error') ? t('editor.count.errors', { n: count('error') }) : '',
    count('warning') ? t('editor.count.warnings', { n: count('warning') }) : '',
    count('info') ? t('editor.count.notes', { n: count('info') }) : '',
  ].filter(Boolean)
  const problems = (
    <div className={`grid h-full ${playing ? 'grid-cols-[1fr_380px]' : ''}`}>
      <div className="min-h-0 overflow-auto">
        <Problems />
      </div>
      {playing ? (
        <div className="min-h-0 border-s border-line">
          <TracePanel definition={definition} />
        </div>
      ) : null}
    </div>
  )
  return (
    <section className="bot" aria-label={t('editor.panel')}>
      <Tabs
        label={t('editor.panel')}
        value={panel}
        onChange={(id) => useEditor.setState({ panel: id })}
        tabs={[
          {
            id: 'problems',
            label: (
              <>
                {t('editor.problems')} <span className="n">{report ? said.join(', ') || t('editor.count.none') : ''}</span>
              </>
            ),
            content: problems,
          },
          ...(authors
            ? [
                { id: 'try', label: t('editor.try'), content: panel === 'try' ? <Try /> : null },
                { id: 'pinned', label: t('editor.pinned'), content: panel === 'pinned' ? <Pinned /> : null },
              ]
            : []),
        ]}
        aside={report ? <span className="cap">{t('editor.states', { n: report.states, seconds: report.seconds < 0.1 ? Math.max(0.01, Math.round(report.seconds * 100) / 100) : Math.round(report.seconds * 10) / 10 })}</span> : null}
      />
    </section>
  )
}
