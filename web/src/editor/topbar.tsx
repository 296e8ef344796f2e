import { Link } from '@tanstack/react-router'
import { titleOf } from '@/diagram/definition'
import { t } from '@/messages'
import { Button, Icon, IconButton, type IconName, Logo, MoreMenu, Seal, type Verdict, agoText, useLate, useNow } from '@/ui'
import { useCommands } from '@/app/commands'
import { May } from '@/app/may'
import { isPublished, isStale, passes, redo, undo, unsentOf, useEditor } from './store'

/** What the checks say of what is drawn now. */
export function useVerdict(): Verdict {
  const report = useEditor((state) => state.report)
  const definition = useEditor((state) => state.definition)
  const checked = useEditor((state) => state.checked)
  const error = useEditor((state) => state.checkError)
  const typed = useEditor((state) => state.typed)
  const late = useLate(checked !== definition)
  const stale = useEditor(isStale)
  if (stale) return { kind: 'unchecked' }
  if (typed) return { kind: typed.refused ? 'unreadable' : 'checking' }
  if (late || (checked !== definition && !report)) return { kind: 'checking' }
  if (error && !passes(error)) return { kind: 'unreadable' }
  if (!report) return { kind: 'unreadable' }
  const errors = report.findings.filter((finding) => finding.severity === 'error').length
  const warnings = report.findings.filter((finding) => finding.severity === 'warning').length
  if (report.verdict === 'refuted') return { kind: 'refuted', errors }
  return report.verdict === 'proved' ? { kind: 'proved', warnings } : { kind: 'undecided', seconds: Math.round(report.seconds * 10) / 10 }
}

/** Where the draft stands: saved, kept here, or in conflict. */
export function SaveText() {
  const { save: saved, typed, savedAt, published, name } = useEditor()
  const save = typed && saved === 'saved' ? (typed.refused ? 'typed' : 'unsaved') : saved
  const unsent = useEditor(unsentOf)
  const now = useNow(4_000)
  const said = savedAt && now - savedAt > 3_000 ? t('editor.saved', { ago: agoText(savedAt, now) }) : t('editor.savedNow')
  const text = {
    loading: t('editor.loading'),
    unread: t('editor.unread'),
    missing: t('editor.missing', { name }),
    saving: t('editor.saving'),
    unsaved: t('editor.unsaved'),
    typed: t('editor.typed'),
    away: t('editor.away', { n: Math.max(1, unsent) }),
    conflict: t('editor.notSaved'),
    gone: t('editor.notSaved'),
    refused: t('editor.notSaved'),
    saved: published ? t('editor.live', { saved: said, n: published }) : said,
  }[save]
  const bad = save === 'unread' || save === 'typed' || save === 'gone' || save === 'conflict' || save === 'refused'
  return (
    <span className={`cap ell ${bad ? 'bad' : ''}`} role="status" data-save={save} title={text}>
      {text}
    </span>
  )
}

/** Where one is, and the way out. */
function Path({ name, title }: { name: string; title: string }) {
  return (
    <>
        <Link to="/" className="text-text!" aria-label={t('editor.home')}>
          <Logo />
        </Link>
        <nav aria-label={t('editor.path')} className="row min-w-0 text-13">
          <Link to="/app/workflows" className="mut path">
            {t('nav.workflows')}
          </Link>
          <span className="fnt path" aria-hidden="true">
            /
          </span>
          <h1 className="ell text-13!" title={title}>
            <Link to="/app/workflows/$name" params={{ name }} className="text-text!">
              <bdi>{title}</bdi>
            </Link>
          </h1>
        </nav>
    </>
  )
}

/** The bar of a workflow that could not be loaded. */
export function PathBar() {
  const name = useEditor((state) => state.name)
  return (
    <header className="top">
      <Path name={name} title={name} />
    </header>
  )
}

export function TopBar({ onPublish, onTry }: { onPublish: () => void; onTry: () => void }) {
  const { name, definition, published, changed, mode, textOpen, past, future, save, readOnly } = useEditor()
  const verdict = useVerdict()
  const same = useEditor(isPublished)
  const sets = useCommands((state) => state.sets)
  const title = titleOf(name, definition as { title?: string })
  const blocked = verdict.kind === 'refuted' || verdict.kind === 'unreadable' || verdict.kind === 'unchecked'
  const items = (sets.editor ?? []).filter((command) => command.enabled !== false).map((command) => ({ id: command.id, label: command.label, icon: command.icon, keys: command.keys, run: command.run }))
  return (
    <header className="top">
      <Path name={name} title={title} />
      <span className="tag">{published === null ? t('editor.draftNew') : changed || save !== 'saved' ? t('editor.draftOf', { n: published + 1 }) : t('editor.same', { n: published })}</span>
      <SaveText />
      <span className="grow" />
      <fieldset className="seg" aria-label={t('editor.view')}>
        <ViewButton on={mode === 'diagram'} icon="flow" text={t('editor.diagram')} onClick={() => useEditor.setState({ mode: 'diagram' })} />
        <ViewButton on={mode === 'petri'} icon="petri" text={t('editor.petri')} onClick={() => useEditor.setState({ mode: 'petri' })} />
        <ViewButton on={textOpen} icon="text" text={t('editor.text')} onClick={() => useEditor.setState({ textOpen: !textOpen })} />
      </fieldset>
      <span className="vr" />
      <IconButton icon="undo" label={t('act.undo')} keys="Ctrl Z" disabled={past.length === 0 || readOnly !== false} onClick={undo} />
      <IconButton icon="redo" label={t('act.redo')} keys="Ctrl Shift Z" disabled={future.length === 0 || readOnly !== false} onClick={redo} />
      <span className="vr" />
      {Object.keys(definition.steps).length > 0 ? <Seal verdict={verdict} onClick={() => useEditor.setState({ panel: 'problems' })} /> : null}
      <May what="authors">
        <Button icon="play" onClick={onTry}>
          {t('editor.try')}
        </Button>
        <Button kind={blocked || same ? 'plain' : 'primary'} className={blocked ? 'off' : ''} icon={blocked ? 'error' : undefined} onClick={onPublish}>
          {blocked || same ? t('editor.publish') : t('editor.publishV', { n: (published ?? 0) + 1 })}
        </Button>
      </May>
      <MoreMenu items={items} />
    </header>
  )
}

function ViewButton({ on, icon, text, onClick }: { on: boolean; icon: IconName; text: string; onClick: () => void }) {
  return (
    <button type="button" aria-pressed={on} aria-label={text} title={text} onClick={onClick}>
      <Icon name={icon} size="s" />
      <bdi className="lbl">{text}</bdi>
    </button>
  )
}
