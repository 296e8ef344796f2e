/** What people write of the studies in a release: added, changed, removed. */
import { type FormEvent, useState } from 'react'
import { at, del, patch, post } from '@/api/client'
import { type Note, type Release, idOf, useReleaseNotes } from '@/api/releases'
import { useWho } from '@/api/queries'
import { useRights } from '@/api/rights'
import { t } from '@/messages'
import { useActing } from '@/run/acting'
import { Refused } from '@/run/dialogs'
import { Button, Dialog, Field, IconButton, Loaded, Select, TextArea, Time } from '@/ui'

export function Notes({ release, names }: { release: Release; names: Map<string, string> }) {
  const [editing, setEditing] = useState<Note | 'new' | null>(null)
  const { busy, act } = useActing([['release', release.kf_id]])
  const { operates } = useRights()
  const remove = (note: Note) =>
    void act(async () => {
      await del(at`/release-notes/${note.kf_id}`)
    }, t('re.noteRemoved'))
  return (
    <section aria-label={t('re.notes')}>
      <div className="row mt-[18px] mb-1.5">
        <h2>{t('re.notes')}</h2>
        <span className="grow" />
        {operates ? (
          <Button size="s" icon="plus" onClick={() => setEditing('new')}>
            {t('re.addNote')}
          </Button>
        ) : null}
      </div>
      <Loaded query={useReleaseNotes(release.kf_id)} lines={1}>
        {(page) =>
          page.results.length === 0 ? (
            <p className="mut">{t('re.noNotes')}</p>
          ) : (
            page.results.map((note) => (
              <article key={note.kf_id} className="rnote">
                <p className="mut whitespace-pre-wrap">
                  <bdi>{note.description}</bdi>
                </p>
                <div className="row gap-1">
                  <span className="cap grow">
                    <bdi>{note.author}</bdi>, <bdi>{names.get(idOf(note.study)) ?? idOf(note.study)}</bdi>, <Time at={note.created_at} as="ago" />
                  </span>
                  {operates ? (
                    <>
                      <IconButton size="s" icon="edit" label={t('re.editNote')} onClick={() => setEditing(note)} />
                      <IconButton size="s" icon="trash" label={t('re.removeNote')} disabled={busy} onClick={() => remove(note)} />
                    </>
                  ) : null}
                </div>
              </article>
            ))
          )
        }
      </Loaded>
      {editing ? <NoteDialog release={release} names={names} note={editing === 'new' ? null : editing} onClose={() => setEditing(null)} /> : null}
    </section>
  )
}

function NoteDialog({ release, names, note, onClose }: { release: Release; names: Map<string, string>; note: Note | null; onClose: () => void }) {
  const who = useWho().data
  const [text, setText] = useState(note?.description ?? '')
  const [study, setStudy] = useState(note ? idOf(note.study) : (release.studies[0] ?? ''))
  const { busy, error, act } = useActing([['release', release.kf_id]], true)
  const keep = (event: FormEvent) => {
    event.preventDefault()
    const said = { description: text, study }
    void act(() => (note ? patch(at`/release-notes/${note.kf_id}`, said) : post('/release-notes', { ...said, release: release.kf_id, ...(who ? { author: who.name } : {}) })), t('re.noteKept')).then((done) => done && onClose())
  }
  return (
    <Dialog open onClose={onClose} title={note ? t('re.editNote') : t('re.addNote')}>
      <form className="col gap-3" onSubmit={keep}>
        <Field label={t('re.noteText')}>{(ids) => <TextArea {...ids} rows={4} value={text} onChange={(event) => setText(event.target.value)} />}</Field>
        <Field label={t('re.study')}>{(ids) => <Select id={ids.id} label={t('re.study')} value={study} options={release.studies.map((each) => ({ value: each, label: names.get(each) ?? each }))} onChange={setStudy} />}</Field>
        <Refused error={error} />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{t('act.leave')}</Button>
          <Button type="submit" kind="primary" busy={busy} disabled={!text.trim() || !study}>
            {t('re.keep')}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
