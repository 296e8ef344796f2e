/** Where there is nothing yet: draw, bring a file, begin with one that works, take the tour. */
import '../../styles/sides.css'
import { Link, useNavigate } from '@tanstack/react-router'
import { type FormEvent, useRef, useState } from 'react'
import { cache, useRuns, useTasks, useWho, useWorkers, useWorkflows } from '@/api/queries'
import { useRights } from '@/api/rights'
import { useTitle } from '@/app/heading'
import { May } from '@/app/may'
import { useConnection } from '@/live/connection'
import { t, want } from '@/messages'
import { Button, Dialog, Field, Icon, type IconName, Logo, TextInput, toast } from '@/ui'
import { type Brought, ENGINES, type Foreign, begin, beginEmpty, bring, bringForeign } from './bring'
import { TEMPLATES, WORKFLOW_NAME, freeOf, nameFor } from './list'
import { Sketch } from './sketches'
import { startTour } from './tour'

want('templates')

export function Welcome() {
  useTitle(t('templates.headline'))
  const navigate = useNavigate()
  const taken = useWorkflows().data?.items.map((each) => each.name) ?? []
  const [drawing, setDrawing] = useState<'draw' | 'tour' | null>(null)
  const [problem, setProblem] = useState('')
  const [busy, setBusy] = useState('')
  const file = useRef<HTMLInputElement>(null)
  const { authors } = useRights()
  const [foreign, setForeign] = useState<Foreign | null>(null)
  const edit = (name: string, fresh = false) => {
    void cache.invalidateQueries({ queryKey: ['workflows'] })
    void navigate({ to: '/app/workflows/$name/edit', params: { name }, search: fresh ? { new: true } : {} })
  }
  const made = async (what: string, making: Promise<Brought>) => {
    setBusy(what)
    setProblem('')
    const done = await making.catch((error: unknown): Brought => ({ problem: String(error) }))
    setBusy('')
    if ('foreign' in done) setForeign(done.foreign)
    else if ('name' in done) {
      if (done.notes?.length) toast({ kind: 'warn', title: t('templates.notCarried', { n: done.notes.length }), detail: done.notes.join(' '), lasts: 0 })
      edit(done.name)
    } else setProblem('taken' in done ? t('templates.taken', { name: done.taken }) : done.problem)
  }
  return (
    <div className="flex flex-1 justify-center overflow-auto px-8 pt-[84px] pb-8">
      <div className="w-full max-w-[1128px]">
        <div className="welcome">
          <div>
            <div className="mb-5">
              <Logo size={44} />
            </div>
            <h1 className="text-[30px]! leading-[38px]! tracking-[-.02em]">{t('templates.headline')}</h1>
            <p className="mut mt-2.5 max-w-[520px] text-16! leading-[26px]!">{t('templates.about')}</p>
            {authors ? null : <p className="mt-6">{t('templates.looksOn')}</p>}
            <May what="authors">
              <div className="row mt-6 flex-wrap gap-2.5">
                <Button kind="primary" icon="plus" className="h-9! px-4! text-13!" onClick={() => setDrawing('draw')}>
                  {t('templates.draw')}
                </Button>
                <Button className="h-9! px-3.5! text-13!" busy={busy === 'file'} onClick={() => file.current?.click()}>
                  {t('templates.bring')}
                </Button>
                <span className="t12 mut">{t('templates.kinds')}</span>
                <input
                  ref={file}
                  type="file"
                  hidden
                  aria-label={t('templates.bring')}
                  accept=".yaml,.yml,.json,application/json,application/yaml"
                  onChange={(event) => {
                    const [first] = event.target.files ?? []
                    event.target.value = ''
                    if (first) void made('file', bring(first, (wish) => freeOf(wish, taken)))
                  }}
                />
              </div>
            </May>
            {problem ? (
              <div className="fnote bad max-w-[520px]" role="alert">
                {problem}
              </div>
            ) : null}
          </div>
          {authors ? <Tour onStart={() => setDrawing('tour')} onProve={() => void made('prove', begin(TEMPLATES[0].text, freeOf(TEMPLATES[0].id, taken)))} /> : null}
        </div>
        <May what="authors">
          <div className="row mt-14 mb-3">
            <h2>{t('templates.begin')}</h2>
            <span className="cap">{t('templates.beginDetail')}</span>
          </div>
          <ul className="templates">
            {TEMPLATES.map((template) => (
              <li key={template.id}>
                <button type="button" className="card w-full h-full overflow-hidden text-start cursor-pointer flex flex-col" disabled={busy !== ''} onClick={() => void made(template.id, begin(template.text, freeOf(template.id, taken)))}>
                  <span className="cv w-full h-[100px] grid place-items-center border-b border-line">
                    <Sketch id={template.id} />
                  </span>
                  <span className="block px-3.5 pt-3 pb-3.5 w-full">
                    <span className="row">
                      <span className="ok">
                        <Icon name="seal" />
                      </span>
                      <b className="grow">{t(`templates.${template.id}`)}</b>
                      <span className="cap">{t('templates.steps', { n: template.steps })}</span>
                    </span>
                    <span className="block t12 mut mt-1 min-h-[52px]">{t(`templates.${template.id}.about`)}</span>
                  </span>
                </button>
              </li>
            ))}
          </ul>
        </May>
        <Installation />
      </div>
      {foreign ? (
        <Dialog open onClose={() => setForeign(null)} title={t('templates.whose')} detail={t('templates.whoseDetail')}>
          <div className="row flex-wrap">
            {ENGINES.map((kind) => (
              <Button
                key={kind}
                onClick={() => {
                  setForeign(null)
                  void made('file', bringForeign(foreign, kind))
                }}
              >
                {t(`templates.from.${kind}`)}
              </Button>
            ))}
          </div>
        </Dialog>
      ) : null}
      {drawing ? (
        <NameDialog
          taken={taken}
          onClose={() => setDrawing(null)}
          onDone={(name, title) => {
            if (drawing === 'tour') startTour()
            setDrawing(null)
            void beginEmpty(name, title).then((kept) => edit(name, !kept))
          }}
        />
      ) : null}
    </div>
  )
}

/** Where the parts of the tour lead on this installation: a draft, a run that is under way or what could be started. */
function useTourEnds() {
  const workflows = useWorkflows().data?.items ?? []
  const runs = useRuns({ status: ['waiting', 'running'], limit: 1 }).data?.items ?? []
  return { draft: workflows.find((each) => each.published_version === null), run: runs[0], published: workflows.find((each) => each.published_version !== null) }
}

function Tour({ onStart, onProve }: { onStart: () => void; onProve: () => void }) {
  const { draft, run, published } = useTourEnds()
  const name = (each: { title: string | null; name: string }) => each.title ?? each.name
  const parts = [
    { n: 1, title: t('templates.tour1'), detail: t('templates.tour1Detail'), seconds: 30, end: <End onClick={onStart} text={t('templates.tourNew')} /> },
    {
      n: 2,
      title: t('templates.tour2'),
      detail: t('templates.tour2Detail'),
      seconds: 40,
      end: draft ? (
        <Link className="inline-flex min-h-6 items-center" to="/app/workflows/$name/edit" params={{ name: draft.name }}>
          {t('templates.tourEdit', { name: name(draft) })}
        </Link>
      ) : (
        <End onClick={onProve} text={t('templates.tourTake', { name: t(`templates.${TEMPLATES[0].id}`) })} />
      ),
    },
    {
      n: 3,
      title: t('templates.tour3'),
      detail: t('templates.tour3Detail'),
      seconds: 50,
      end: run ? (
        <Link className="inline-flex min-h-6 items-center" to="/app/runs/$id" params={{ id: run.id }}>
          {t('templates.tourRun', { name: run.subject ?? run.id })}
        </Link>
      ) : published ? (
        <Link className="inline-flex min-h-6 items-center" to="/app/workflows/$name" params={{ name: published.name }}>
          {t('templates.tourStartRun', { name: name(published) })}
        </Link>
      ) : (
        <span className="cap">{t('templates.tourNoRun')}</span>
      ),
    },
  ]
  return (
    <section className="card px-[18px] pt-3.5 pb-3" aria-label={t('templates.tour')}>
      <div className="row">
        <h2 className="grow">{t('templates.tour')}</h2>
        <Button size="s" icon="play" onClick={onStart}>
          {t('templates.tourStart')}
        </Button>
      </div>
      <ol className="mt-1.5">
        {parts.map((part) => (
          <li key={part.n} className="grid grid-cols-[26px_1fr_auto] gap-2.5 py-2.5 border-b border-line last:border-0">
            <span className="t11 grid h-[22px] w-[22px] place-items-center rounded-full border border-line-2">{part.n}</span>
            <div className="t12">
              <b>{part.title}</b>
              <div className="mut">{part.detail}</div>
              <div className="mt-0.5 [overflow-wrap:anywhere]">{part.end}</div>
            </div>
            <span className="cap">{t('templates.seconds', { n: part.seconds })}</span>
          </li>
        ))}
      </ol>
    </section>
  )
}

const End = ({ onClick, text }: { onClick: () => void; text: string }) => (
  <button type="button" className="min-h-6 cursor-pointer text-accent" onClick={onClick}>
    {text}
  </button>
)

/** What state the installation is in, in three sentences. */
function Installation() {
  const who = useWho().data
  const workers = useWorkers(useRights().looksEverywhere).data?.items
  const tasks = useTasks().data?.items.filter((task) => task.kind === 'task').length ?? 0
  const away = useConnection((state) => state.state === 'away')
  const open = who !== undefined && !who.signed_in
  const lines: { icon: IconName; tint: string; title: string; detail: string }[] = [
    away ? { icon: 'warning', tint: 'warn', title: t('shell.away'), detail: t('templates.awayDetail') } : { icon: 'done', tint: 'ok', title: t('templates.up'), detail: t('templates.upDetail') },
    workers && workers.length > 0 ? { icon: 'done', tint: 'ok', title: t('templates.workers', { n: workers.length }), detail: t('templates.workersDetail', { n: tasks }) } : { icon: 'note', tint: 'idle', title: t('templates.noWorker'), detail: t('templates.noWorkerDetail') },
    open ? { icon: 'note', tint: 'idle', title: t('shell.anybody'), detail: t('templates.openDetail') } : { icon: 'done', tint: 'ok', title: t('templates.signedIn', { name: who?.name ?? '' }), detail: t('templates.signedInDetail', { role: who ? t(`role.${who.role}`) : '' }) },
  ]
  return (
    <div className="installation t12">
      {lines.map((line) => (
        <div key={line.title} className="row items-start">
          <span className={line.tint}>
            <Icon name={line.icon} />
          </span>
          <div>
            <b>{line.title}</b>
            <div className="mut">{line.detail}</div>
          </div>
        </div>
      ))}
    </div>
  )
}

function NameDialog({ taken, onClose, onDone }: { taken: string[]; onClose: () => void; onDone: (name: string, title: string) => void }) {
  const [title, setTitle] = useState('')
  const [typed, setTyped] = useState<string | null>(null)
  const name = typed ?? freeOf(title.trim() ? nameFor(title) : 'my-workflow', taken)
  const wrong = !WORKFLOW_NAME.test(name) ? t('templates.badName') : taken.includes(name) ? t('templates.taken', { name }) : ''
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!wrong) onDone(name, title.trim())
  }
  return (
    <Dialog open onClose={onClose} title={t('templates.draw')} detail={t('templates.nameDetail')}>
      <form onSubmit={submit} className="col gap-3">
        <Field label={t('templates.title')}>{(ids) => <TextInput {...ids} value={title} maxLength={200} placeholder={t('templates.titleFor')} onChange={(event) => setTitle(event.target.value)} />}</Field>
        <Field label={t('templates.name')} hint={t('templates.nameHint')} error={wrong || undefined}>
          {(ids) => <TextInput {...ids} className="mono" value={name} onFocus={(event) => event.target.select()} onChange={(event) => setTyped(event.target.value)} />}
        </Field>
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{t('act.cancel')}</Button>
          <Button type="submit" kind="primary" disabled={wrong !== ''}>
            {t('templates.drawNow')}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
