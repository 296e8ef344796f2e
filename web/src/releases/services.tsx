/** The task services: how they are, whether they take part, registered, changed and removed. */
import { type FormEvent, useState } from 'react'
import { at, del, patch, post } from '@/api/client'
import { type TaskService, fieldErrors, useTaskServices } from '@/api/releases'
import { useWho } from '@/api/queries'
import { useRights } from '@/api/rights'
import { t } from '@/messages'
import { useActing } from '@/run/acting'
import { Button, Dialog, EmptyState, Field, Loaded, MoreMenu, StatusChip, Switch, Table, TextInput } from '@/ui'

export function ServiceHealth({ service }: { service: TaskService }) {
  if (service.health_status !== 'ok') return <StatusChip status="failed" text={t('re.healthDown')} />
  if (service.last_ok_status > 0) return <StatusChip status="stalled" text={t('re.healthMissed', { n: service.last_ok_status })} />
  return <StatusChip status="succeeded" text={t('re.healthOk')} />
}

export function Services() {
  const [editing, setEditing] = useState<TaskService | 'new' | null>(null)
  const [gone, setGone] = useState<TaskService | null>(null)
  const { busy, act } = useActing([['task-services']])
  const enable = (service: TaskService, enabled: boolean) => void act(() => patch(at`/task-services/${service.kf_id}`, { enabled }), enabled ? t('re.enabledNow', { name: service.name }) : t('re.disabledNow', { name: service.name }))
  const { operates, authors } = useRights()
  return (
    <section aria-label={t('re.services')}>
      <div className="sect items-center!">
        <h2>{t('re.services')}</h2>
        <span className="cap wide-only">{t('re.servicesAbout')}</span>
        <span className="grow" />
        {operates ? (
          <Button busy={busy} onClick={() => void act(() => post('/task-services/health_checks'), t('re.checked'))}>
            {t('re.check')}
          </Button>
        ) : null}
        {authors ? (
          <Button icon="plus" onClick={() => setEditing('new')}>
            {t('re.register')}
          </Button>
        ) : operates ? (
          <span className="cap">{t('re.authorsOnly')}</span>
        ) : null}
      </div>
      <Loaded query={useTaskServices()}>
        {(page) =>
          page.results.length === 0 ? (
            <EmptyState icon="box" title={t('re.noServices')} detail={t('re.noServicesDetail')} />
          ) : (
            <div className="scrollx">
              <Table
                tall
                label={t('re.services')}
                rows={page.results}
                rowKey={(each) => each.kf_id}
                columns={[
                  { id: 'name', head: t('re.service'), cell: (each) => <Named service={each} /> },
                  { id: 'health', head: t('re.health'), cell: (each) => <ServiceHealth service={each} /> },
                  { id: 'enabled', head: t('re.enabled'), cell: (each) => <Switch label={t('re.enableName', { name: each.name })} checked={each.enabled} disabled={busy || !authors} onChange={(on) => enable(each, on)} /> },
                  { id: 'url', wide: true, head: t('re.address'), cell: (each) => <span className="mono t11 mut">{each.url}</span> },
                  { id: 'author', wide: true, head: t('re.author'), cell: (each) => <bdi>{each.author}</bdi> },
                  {
                    id: 'do',
                    head: '',
                    right: true,
                    cell: (each) =>
                      authors ? (
                        <MoreMenu
                          label={t('re.moreOf', { name: each.name })}
                          items={[
                            { id: 'edit', label: t('re.edit'), icon: 'edit', run: () => setEditing(each) },
                            { id: 'remove', label: t('act.remove'), icon: 'trash', danger: true, run: () => setGone(each) },
                          ]}
                        />
                      ) : null,
                  },
                ]}
              />
            </div>
          )
        }
      </Loaded>
      {editing ? <ServiceDialog service={editing === 'new' ? null : editing} onClose={() => setEditing(null)} /> : null}
      {gone ? (
        <Dialog
          open
          onClose={() => setGone(null)}
          title={t('re.removeSure', { name: gone.name })}
          detail={t('re.removeDetail')}
          actions={
            <>
              <Button onClick={() => setGone(null)}>{t('act.leave')}</Button>
              <Button kind="danger" busy={busy} onClick={() => void act(() => del(at`/task-services/${gone.kf_id}`), t('re.removedNow', { name: gone.name })).then(() => setGone(null))}>
                {t('act.remove')}
              </Button>
            </>
          }
        />
      ) : null}
    </section>
  )
}

function Named({ service }: { service: TaskService }) {
  return (
    <>
      <b>
        <bdi>{service.name}</bdi>
      </b>
      <div className="cap ell max-w-[260px]" title={service.description}>
        <bdi>{service.description}</bdi>
      </div>
    </>
  )
}

const FIELDS = ['name', 'url', 'description', 'author'] as const

function ServiceDialog({ service, onClose }: { service: TaskService | null; onClose: () => void }) {
  const who = useWho().data
  const [said, setSaid] = useState({ name: service?.name ?? '', url: service?.url ?? '', description: service?.description ?? '', author: service?.author ?? who?.name ?? '' })
  const [wrong, setWrong] = useState<Record<string, string>>({})
  const { busy, act } = useActing([['task-services']], true)
  const keep = (event: FormEvent) => {
    event.preventDefault()
    setWrong({})
    const work = async () => {
      try {
        await (service ? patch(at`/task-services/${service.kf_id}`, said) : post('/task-services', said))
      } catch (error) {
        setWrong(fieldErrors(error))
        throw error
      }
    }
    void act(work, service ? t('re.changed', { name: said.name }) : t('re.registered', { name: said.name })).then((done) => done && onClose())
  }
  return (
    <Dialog open onClose={onClose} title={service ? t('re.editTitle', { name: service.name }) : t('re.register')} detail={t('re.registerDetail')}>
      <form className="col gap-3" onSubmit={keep}>
        {FIELDS.map((name) => (
          <Field key={name} label={t(`re.field.${name}`)} hint={name === 'url' ? t('re.urlHint') : undefined} error={wrong[name]}>
            {(ids) => <TextInput {...ids} value={said[name]} onChange={(event) => setSaid({ ...said, [name]: event.target.value })} />}
          </Field>
        ))}
        {wrong[''] ? (
          <div className="bad t12" role="alert">
            {wrong['']}
          </div>
        ) : null}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{t('act.leave')}</Button>
          <Button type="submit" kind="primary" busy={busy} disabled={FIELDS.some((name) => !said[name].trim())}>
            {service ? t('re.keep') : t('re.registerDo')}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
