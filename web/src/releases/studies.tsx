/** The studies that releases are made of: added by hand, or taken from the data service. */
import { type FormEvent, useState } from 'react'
import { post } from '@/api/client'
import { type Study, fieldErrors, useStudies } from '@/api/releases'
import { useRights } from '@/api/rights'
import { t } from '@/messages'
import { useActing } from '@/run/acting'
import { Button, Dialog, EmptyState, Field, Loaded, Table, TextInput, Time } from '@/ui'

export function Studies() {
  const [adding, setAdding] = useState(false)
  const { busy, act } = useActing([['studies']])
  return (
    <section aria-label={t('re.studies')}>
      <div className="sect items-center!">
        <h2>{t('re.studies')}</h2>
        <span className="grow" />
        {useRights().operates ? (
          <>
            <Button busy={busy} onClick={() => void act(() => post('/studies/sync'), t('re.synced'))}>
              {t('re.sync')}
            </Button>
            <Button icon="plus" onClick={() => setAdding(true)}>
              {t('re.addStudy')}
            </Button>
          </>
        ) : null}
      </div>
      <Loaded query={useStudies()}>
        {(page) =>
          page.results.length === 0 ? (
            <EmptyState icon="paper" title={t('re.noStudy')} detail={t('re.noStudies')} />
          ) : (
            <Table
              label={t('re.studies')}
              rows={page.results}
              rowKey={(each) => each.kf_id}
              columns={[
                { id: 'id', head: t('re.id'), cell: (each) => <span className="mono t11 mut">{each.kf_id}</span> },
                { id: 'name', head: t('re.name'), cell: (each) => <StudyName study={each} /> },
                { id: 'version', head: t('re.lastPublished'), cell: (each) => each.last_pub_version ?? '–' },
                { id: 'at', head: t('re.when'), cell: (each) => (each.last_pub_date ? <Time at={each.last_pub_date} as="ago" /> : '–') },
              ]}
            />
          )
        }
      </Loaded>
      {adding ? <AddStudy onClose={() => setAdding(false)} /> : null}
    </section>
  )
}

const StudyName = ({ study }: { study: Study }) => (
  <>
    <bdi>{study.name}</bdi>
    {study.deleted ? <span className="cap ms-2">{t('re.studyGone')}</span> : null}
  </>
)

function AddStudy({ onClose }: { onClose: () => void }) {
  const [id, setId] = useState('')
  const [name, setName] = useState('')
  const [wrong, setWrong] = useState<Record<string, string>>({})
  const { busy, act } = useActing([['studies']], true)
  const add = (event: FormEvent) => {
    event.preventDefault()
    const work = () =>
      post('/studies', { kf_id: id.trim(), name }).catch((error: unknown) => {
        setWrong(fieldErrors(error))
        throw error
      })
    void act(work, t('re.studyAdded', { name })).then((done) => done && onClose())
  }
  return (
    <Dialog open onClose={onClose} title={t('re.addStudy')}>
      <form className="col gap-3" onSubmit={add}>
        <Field label={t('re.id')} hint={t('re.idHint')} error={wrong.kf_id ?? wrong['']}>
          {(ids) => <TextInput {...ids} value={id} onChange={(event) => setId(event.target.value)} />}
        </Field>
        <Field label={t('re.name')} error={wrong.name}>
          {(ids) => <TextInput {...ids} value={name} onChange={(event) => setName(event.target.value)} />}
        </Field>
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{t('act.leave')}</Button>
          <Button type="submit" kind="primary" busy={busy} disabled={!id.trim() || !name.trim()}>
            {t('re.addStudy')}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
