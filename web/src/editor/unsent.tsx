/** What is drawn cannot be saved until somebody decides: the whole sentence stands over the drawing, with what can be done. */
import { useWho } from '@/api/queries'
import { t } from '@/messages'
import { Button, ErrorPart, clockText } from '@/ui'
import { inWords } from './problems/words'
import { openAgain, saveAgain, useEditor } from './store'
import { PathBar } from './topbar'

/** Who saved the other draft, as the reader would say it, and when. */
export function useOther(): { own: boolean; who: string; time: string } {
  const theirs = useEditor((state) => state.theirs)
  const me = useWho().data
  const own = me !== undefined && theirs?.updated_by === me.name
  return { own, who: theirs?.updated_by ?? t('editor.somebody'), time: theirs?.updated_at ? clockText(theirs.updated_at) : '' }
}

/** In place of the editor while what the server has is not known. */
export function NotLoaded() {
  const unread = useEditor((state) => state.save === 'unread')
  const why = useEditor((state) => state.why)
  if (!unread) return <div className="ed" aria-busy="true" />
  return (
    <div className="ed nopal noinsp nobot">
      <PathBar />
      <main className="edmain">
        <div className="m-auto">
          <ErrorPart title={t('editor.unreadTitle')} error={`${why ?? ''} ${t('editor.unreadDetail')}`.trim()} onRetry={() => openAgain()} />
        </div>
      </main>
    </div>
  )
}

export function Unsent({ onCompare }: { onCompare: () => void }) {
  const save = useEditor((state) => state.save)
  const { own, who, time } = useOther()
  if (save === 'refused') return <Refused />
  if (save !== 'conflict' && save !== 'gone') return null
  return (
    <div className="narrow unsent row" role="alert">
      <span className="grow">{save === 'gone' ? t('editor.gone') : own ? t('editor.conflictOwn', { time }) : t('editor.conflict', { who, time })}</span>
      {save === 'gone' ? (
        <Button size="s" onClick={saveAgain}>
          {t('editor.saveAgain')}
        </Button>
      ) : (
        <Button size="s" kind="primary" onClick={onCompare}>
          {t('editor.compare')}
        </Button>
      )}
    </div>
  )
}

/** The server takes no such draft: each thing that is wrong, whole, and where the changes are meanwhile. */
function Refused() {
  const why = useEditor((state) => state.why)
  const errors = useEditor((state) => state.errors)
  const definition = useEditor((state) => state.definition)
  const said = errors.length > 0 ? errors.map((each) => each.message) : [why ?? '']
  return (
    <div className="narrow unsent" role="alert">
      <p>{t('editor.refused')}</p>
      <ul className="list-disc ps-5">
        {[...new Set(said)].slice(0, 3).map((each) => (
          <li key={each} className="break-words">
            {inWords(each, definition).replace(/^./u, (first) => first.toUpperCase())}
          </li>
        ))}
      </ul>
    </div>
  )
}
