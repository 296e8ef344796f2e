import { Link, useNavigate } from '@tanstack/react-router'
import { type FormEvent, type ReactNode, useId, useState } from 'react'
import { post } from '@/api/client'
import { type Release, type Study, type TaskService, fieldErrors, namedServices, useStudies, useTaskServices } from '@/api/releases'
import { useWho } from '@/api/queries'
import { useRights } from '@/api/rights'
import { LooksOn } from '@/app/may'
import { PageBody, useTitle } from '@/app/heading'
import { t, want } from '@/messages'
import { ServiceHealth } from '@/releases/services'
import { useActing } from '@/run/acting'
import { Button, Checkbox, Field, Loaded, SearchInput, Switch, TextArea, TextInput } from '@/ui'

want('pages')
want('releases')

/** Plans a release: which studies, by which services; then it begins. */
export default function NewReleasePage() {
  useTitle(t('re.new'))
  const navigate = useNavigate()
  const who = useWho().data
  const major = useId()
  const studies = useStudies()
  const services = useTaskServices()
  const [name, setName] = useState('')
  const [about, setAbout] = useState('')
  const [tags, setTags] = useState('')
  const [isMajor, setMajor] = useState(false)
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  /** None is chosen by hand yet: all that are enabled take part. */
  const [taking, setTaking] = useState<ReadonlySet<string> | null>(null)
  const [wrong, setWrong] = useState<Record<string, string>>({})
  const { busy, act } = useActing([['releases']], true)
  const enabled = services.data?.results.filter((each) => each.enabled) ?? []
  const parts = taking ?? new Set(enabled.map((each) => each.kf_id))
  const down = enabled.filter((each) => parts.has(each.kf_id) && each.health_status !== 'ok')
  const begin = (event: FormEvent) => {
    event.preventDefault()
    setWrong({})
    const words = tags.split(',').map((each) => each.trim()).filter(Boolean)
    const wish = { name, description: about, studies: [...chosen], is_major: isMajor, tags: words, ...(who ? { author: who.name } : {}), services: namedServices(taking, enabled) }
    void act(async () => {
      try {
        const made = await post<Release>('/releases', wish)
        await navigate({ to: '/app/releases/$id', params: { id: made.kf_id } })
      } catch (error) {
        setWrong(fieldErrors(error))
        throw error
      }
    })
  }
  const { operates } = useRights()
  const ready = operates && name.trim() !== '' && chosen.size > 0 && (parts.size > 0 || enabled.length === 0)
  return (
    <>
      <header className="runhead">
        <nav className="crumbs" aria-label={t('rp.path')}>
          <Link to="/app/releases">{t('nav.releases')}</Link>
        </nav>
        <h1 className="mt-1">{t('re.new')}</h1>
      </header>
      <PageBody label={t('re.new')}>
        <form className="rplan" onSubmit={begin}>
          <div className="col gap-3">
            <Field label={t('re.name')} error={wrong.name}>
              {(ids) => <TextInput {...ids} value={name} onChange={(event) => setName(event.target.value)} />}
            </Field>
            <Field label={t('re.description')} error={wrong.description}>
              {(ids) => <TextArea {...ids} rows={3} value={about} onChange={(event) => setAbout(event.target.value)} />}
            </Field>
            <Field label={t('re.tags')} hint={t('re.tagsHint')} error={wrong.tags}>
              {(ids) => <TextInput {...ids} value={tags} onChange={(event) => setTags(event.target.value)} />}
            </Field>
            <div className="row t12">
              <Switch id={major} label={t('re.major')} checked={isMajor} onChange={setMajor} />
              <label htmlFor={major}>{t('re.major')}</label>
            </div>
          </div>
          <Choosing title={t('re.studies')} count={t('re.chosen', { n: chosen.size })} error={wrong.studies}>
            <Loaded query={studies}>{(page) => <ChooseStudies studies={page.results.filter((each) => !each.deleted)} chosen={chosen} onChosen={setChosen} />}</Loaded>
          </Choosing>
          <Choosing title={t('re.services')} count={t('re.chosen', { n: parts.size })} error={wrong.services}>
            <Loaded query={services}>{(page) => <ChooseServices services={page.results} chosen={parts} onChosen={setTaking} />}</Loaded>
          </Choosing>
          <footer className="rplanfoot">
            <p className="grow" role="status">
              {t('re.plan', { studies: chosen.size, services: parts.size })}{' '}
              {down.length > 0 ? <span className="warn">{t('re.planDown', { names: down.map((each) => each.name).join(', ') })}</span> : null}
              {wrong[''] ? <span className="bad" role="alert">{wrong['']}</span> : null}
            </p>
            <LooksOn text="re.looksOn" />
            <Button type="submit" kind="primary" busy={busy} disabled={!ready}>
              {t('re.start')}
            </Button>
          </footer>
        </form>
      </PageBody>
    </>
  )
}

function Choosing({ title, count, error, children }: { title: string; count: string; error?: string; children: ReactNode }) {
  return (
    <section aria-label={title} className="min-w-0">
      <div className="row mb-2">
        <h2>{title}</h2>
        <span className="cap">{count}</span>
      </div>
      {children}
      {error ? (
        <p className="bad t12 mt-2" role="alert">
          {error}
        </p>
      ) : null}
    </section>
  )
}

const toggled = (chosen: ReadonlySet<string>, id: string, on: boolean): ReadonlySet<string> => {
  const next = new Set(chosen)
  if (on) next.add(id)
  else next.delete(id)
  return next
}

function Pick({ name, checked, onChange, children }: { name: string; checked: boolean; onChange: (on: boolean) => void; children?: ReactNode }) {
  const id = useId()
  return (
    <label htmlFor={id}>
      <Checkbox id={id} label={name} checked={checked} onChange={onChange} />
      <span className="grow ell">
        <bdi>{name}</bdi>
      </span>
      {children}
    </label>
  )
}

function ChooseStudies({ studies, chosen, onChosen }: { studies: Study[]; chosen: ReadonlySet<string>; onChosen: (chosen: ReadonlySet<string>) => void }) {
  const [text, setText] = useState('')
  if (studies.length === 0) return <p className="mut t12">{t('re.noStudies')}</p>
  const found = studies.filter((each) => `${each.name} ${each.kf_id}`.toLowerCase().includes(text.trim().toLowerCase()))
  const all = found.length > 0 && found.every((each) => chosen.has(each.kf_id))
  return (
    <>
      {studies.length > 6 ? <SearchInput label={t('re.findStudy')} className="mb-2" value={text} onChange={(event) => setText(event.target.value)} /> : null}
      <ul className="rlist">
        {studies.length > 1 ? (
          <li>
            <Pick name={t('re.allStudies')} checked={all} onChange={(on) => onChosen(found.reduce((sum, each) => toggled(sum, each.kf_id, on), chosen))} />
          </li>
        ) : null}
        {found.map((each) => (
          <li key={each.kf_id}>
            <Pick name={each.name} checked={chosen.has(each.kf_id)} onChange={(on) => onChosen(toggled(chosen, each.kf_id, on))}>
              <span className="cap mono">{each.kf_id}</span>
              <span className="cap wide-only">{each.last_pub_version ?? t('re.neverPublished')}</span>
            </Pick>
          </li>
        ))}
      </ul>
      {found.length === 0 ? <p className="mut t12 py-2">{t('re.noMatch')}</p> : null}
    </>
  )
}

function ChooseServices({ services, chosen, onChosen }: { services: TaskService[]; chosen: ReadonlySet<string>; onChosen: (chosen: ReadonlySet<string>) => void }) {
  if (services.length === 0)
    return (
      <p className="mut t12">
        {t('re.planNoServices')}{' '}
        <Link to="/app/releases" search={{ show: 'services' }}>
          {t('re.register')}
        </Link>
      </p>
    )
  return (
    <ul className="rlist">
      {services.map((each) => (
        <li key={each.kf_id}>
          {each.enabled ? (
            <Pick name={each.name} checked={chosen.has(each.kf_id)} onChange={(on) => onChosen(toggled(chosen, each.kf_id, on))}>
              <ServiceHealth service={each} />
            </Pick>
          ) : (
            <div className="row mut">
              <span className="grow ell ps-[22px]">
                <bdi>{each.name}</bdi>
              </span>
              <span className="cap">{t('re.notEnabled')}</span>
            </div>
          )}
        </li>
      ))}
    </ul>
  )
}
