/** The draft, run in memory: what it begins with, what its steps come to, and what came of it. */
import { useState } from 'react'
import { type Step, externalsOf, portsOf, titleOf } from '@/diagram/definition'
import { iconOf } from '@/diagram/icons'
import { playTrace } from '@/diagram/player'
import { t } from '@/messages'
import { Button, Dialog, Icon, Segments, StatusChip, Switch } from '@/ui'
import { JsonValue, TextValue } from '../inspector/fields'
import { select, useEditor } from '../store'
import { clearTry, traceOf, tryNow, useTrying } from './running'
import { exampleOf, pin, pinEvent, pinStub, takeLastRun, usePinned } from './sample'

export default function Try() {
  return (
    <div className="grid h-full grid-cols-[250px_minmax(0,1fr)_290px] t12">
      <Begins />
      <Steps />
      <Outcome />
    </div>
  )
}

function Begins() {
  const pinned = usePinned((state) => state.pinned)
  const definition = useEditor((state) => state.definition)
  const outside = externalsOf(definition)
  return (
    <section className="trybegins min-h-0 overflow-auto border-e border-line p-3 col gap-2" aria-label={t('trying.begins')}>
      <div className="row">
        <b className="grow">{t('trying.begins')}</b>
        <Button kind="ghost" size="s" onClick={() => pin({ from: 'example', run: undefined, data: undefined, tags: undefined, input: exampleOf(definition) })}>
          {t('trying.example')}
        </Button>
        <Button kind="ghost" size="s" onClick={() => void takeLastRun()}>
          {t('trying.lastRun')}
        </Button>
      </div>
      <JsonValue label={t('trying.input')} value={pinned.input} rows={5} onChange={(input) => pin({ from: 'own', run: undefined, data: undefined, input: input ?? {} })} />
      <Real />
      {outside.length > 0 ? <b>{t('trying.events')}</b> : null}
      {outside.map((event) => (
        <div key={event} className="row">
          <Switch label={t('trying.comes', { event })} checked={!pinned.events[event]?.off} onChange={(on) => pinEvent(event, { off: !on })} />
          <bdi className="ell">{event}</bdi>
        </div>
      ))}
    </section>
  )
}

/** Whether tasks are stubs or do their work: that is asked once, for what they do cannot be taken back. */
function Real() {
  const name = useEditor((state) => state.name)
  const real = useTrying((state) => state.real === name)
  const steps = useWorking()
  const [asking, setAsking] = useState(false)
  const set = (on: boolean) => useTrying.setState({ real: on ? name : null })
  return (
    <>
      <div className="row">
        <b className="grow">{t('trying.tasks')}</b>
        <Segments
          size="s"
          label={t('trying.tasks')}
          value={real ? 'real' : 'stubs'}
          choices={[
            { value: 'stubs', label: t('trying.stubs') },
            { value: 'real', label: t('trying.real') },
          ]}
          onChange={(chosen) => (chosen === 'real' ? setAsking(!real) : set(false))}
        />
      </div>
      {real ? (
        <div className="fnote warn">
          {t('trying.realNow', { n: steps.length })}
          {Object.keys(usePinned.getState().pinned.stubs).length > 0 ? (
            <Button kind="ghost" size="s" onClick={() => pin({ stubs: {} })}>
              {t('trying.allWork')}
            </Button>
          ) : null}
        </div>
      ) : null}
      <Dialog
        open={asking}
        onClose={() => setAsking(false)}
        title={t('trying.realTitle')}
        detail={t('trying.realDetail')}
        actions={
          <>
            <Button onClick={() => setAsking(false)}>{t('act.cancel')}</Button>
            <Button
              kind="primary"
              onClick={() => {
                set(true)
                setAsking(false)
              }}
            >
              {t('trying.realDo')}
            </Button>
          </>
        }
      >
        <ul className="t12 col gap-1">
          {steps.map(([step, task]) => (
            <li key={step} className="row">
              <Icon name={iconOf(task)} size="s" />
              <bdi className="grow ell">{step}</bdi>
              <span className="mono fnt ell">{task}</span>
            </li>
          ))}
        </ul>
      </Dialog>
    </>
  )
}

/** The steps that do their work in a real try, with their tasks: those that a worker does and nothing is pinned for. */
function useWorking(): [string, string][] {
  const definition = useEditor((state) => state.definition)
  const stubs = usePinned((state) => state.pinned.stubs)
  return Object.entries(definition.steps).flatMap(([name, step]): [string, string][] => (OWN.has(step.task ?? '') || stubs[name] || step.disabled ? [] : [[titleOf(name, step), step.task ?? '']]))
}

function Steps() {
  const definition = useEditor((state) => state.definition)
  return (
    <section className="min-h-0 overflow-auto" aria-label={t('trying.steps')}>
      <table className="trytable">
        <thead>
          <tr>
            <th scope="col">{t('trying.step')}</th>
            <th scope="col">{t('trying.comesTo')}</th>
            <th scope="col">{t('trying.output')}</th>
            <th scope="col">{t('trying.became')}</th>
          </tr>
        </thead>
        <tbody>
          {Object.entries(definition.steps).map(([name, step]) => (
            <StepLine key={name} name={name} step={step} />
          ))}
        </tbody>
      </table>
    </section>
  )
}

const ERROR = '\u0000error'

/** Steps that the engine does itself are done in a try too; others come to what is said here. */
const OWN = new Set(['decide', 'switch', 'set', 'tag', 'terminate', 'fail', 'wait'])

function StepLine({ name, step }: { name: string; step: Step }) {
  const offers = useEditor((state) => state.offers)
  const stub = usePinned((state) => state.pinned.stubs[name])
  const became = useTrying((state) => state.tried?.run.steps[name])
  const ports = portsOf(step, offers).filter((port) => port !== 'failed')
  const own = OWN.has(step.task ?? '') && !stub
  const works = useTrying((state) => state.real !== null && state.real === useEditor.getState().name)
  const title = titleOf(name, step)
  return (
    <tr>
      <td>
        <button type="button" className="ell max-w-[150px] text-start" title={title} onClick={() => select(name)}>
          <bdi>{title}</bdi>
        </button>
      </td>
      <td>
        <select
          className="f w-[116px]!"
          aria-label={t('trying.comesToOf', { step: title })}
          value={stub ? (stub.error !== undefined ? ERROR : (stub.port ?? '')) : ''}
          onChange={(event) => {
            const chosen = event.target.value
            pinStub(name, chosen === '' ? null : chosen === ERROR ? { error: t('trying.itFailed') } : { ...(stub?.error === undefined ? stub : {}), port: chosen })
          }}
        >
          <option value="">{own ? t('trying.itself') : works ? t('trying.works') : t('trying.usual')}</option>
          {ports.map((port) => (
            <option key={port} value={port}>
              {port}
            </option>
          ))}
          <option value={ERROR}>{t('trying.fails')}</option>
        </select>
      </td>
      <td className="min-w-[180px]">
        {stub?.error !== undefined ? (
          <TextValue label={t('trying.errorOf', { step: title })} value={stub.error} onChange={(error) => pinStub(name, { error })} />
        ) : stub ? (
          <TextValue label={t('trying.outputOf', { step: title })} mono value={stub.output === undefined ? '' : JSON.stringify(stub.output)} placeholder="null" onChange={(text) => pinStub(name, { ...stub, output: parsed(text) })} />
        ) : null}
      </td>
      <td>
        {became ? (
          <span className="row">
            <StatusChip of="step" status={became.status} bare />
            <span className="mono ell max-w-[160px]" title={JSON.stringify(became.error ?? became.output)}>
              {became.error ? became.error.message : became.output == null ? '' : JSON.stringify(became.output)}
            </span>
          </span>
        ) : null}
      </td>
    </tr>
  )
}

/** JSON where it is some, else the text itself. */
function parsed(text: string): unknown {
  if (!text.trim()) return undefined
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}

function Outcome() {
  const { busy, tried, error, extent, before } = useTrying()
  const selection = useEditor((state) => state.selection)
  const definition = useEditor((state) => state.definition)
  const step = selection.length === 1 && definition.steps[selection[0] ?? ''] ? (selection[0] as string) : undefined
  const title = step ? titleOf(step, definition.steps[step]) : ''
  const scope = extent.only ?? extent.until ?? extent.from
  return (
    <section className="min-h-0 overflow-auto border-s border-line p-3 col gap-2" aria-label={t('trying.result')}>
      <div className="row flex-wrap gap-1">
        <Button kind="primary" size="s" icon="play" busy={busy} onClick={() => void tryNow()}>
          {t('trying.all')}
        </Button>
        {step ? (
          <>
            <Button size="s" title={title} onClick={() => void tryNow({ only: step })}>
              {t('trying.only')}
            </Button>
            <Button size="s" title={title} onClick={() => void tryNow({ until: step })}>
              {t('trying.until')}
            </Button>
            <Button size="s" title={title} onClick={() => void tryNow({ from: step })}>
              {t('trying.from')}
            </Button>
          </>
        ) : null}
      </div>
      {error ? (
        <div className="fnote bad" role="alert">
          {error}
        </div>
      ) : null}
      {tried ? (
        <>
          <div className="row" role="status">
            <StatusChip status={tried.run.status} />
            <span className="mut grow">{tried.stopped ? t(`trying.stopped.${tried.stopped}`) : scope ? titleOf(scope, definition.steps[scope]) : ''}</span>
            <Button kind="ghost" size="s" onClick={clearTry}>
              {t('trying.clear')}
            </Button>
          </div>
          {tried.absent.length > 0 ? <div className="warn">{t('trying.absent', { n: tried.absent.length, steps: tried.absent.map((each) => titleOf(each, definition.steps[each])).join(', ') })}</div> : null}
          {tried.run.starving.map((each) => (
            <div key={each.step} className="warn">
              {t('trying.starves', { step: titleOf(each.step, definition.steps[each.step]), events: each.missing.join(', ') })}
            </div>
          ))}
          {tried.run.error ? <div className="bad">{tried.run.error.message}</div> : null}
          <div className="row">
            <Button size="s" icon="play" onClick={() => playTry()}>
              {t('trying.play')}
            </Button>
            <span className="cap">{t('trying.entries', { n: tried.history.length })}</span>
          </div>
          <details>
            <summary className="cursor-pointer">{t('trying.history')}</summary>
            <ol className="mono t11">
              {tried.history.slice(0, 300).map((entry) => (
                <li key={entry.seq}>{[entry.kind, entry.step, entry.port, entry.event].filter(Boolean).join(' · ')}</li>
              ))}
            </ol>
          </details>
          <details open>
            <summary className="cursor-pointer">{t('trying.resultData')}</summary>
            <pre className="mono t11 whitespace-pre-wrap break-all">{JSON.stringify(tried.run.result ?? tried.run.data, null, 1)}</pre>
          </details>
        </>
      ) : error ? null : (
        <p className="mut">{t('trying.detail')}</p>
      )}
      {before.length > 1 ? (
        <details>
          <summary className="cursor-pointer">{t('trying.before', { n: before.length })}</summary>
          <ol>
            {before.map((each) => (
              <li key={each.id} className="row">
                <StatusChip status={each.status} bare />
                <span className="mut">{new Date(each.at).toLocaleTimeString()}</span>
                <bdi className="ell">{each.extent.only ?? each.extent.until ?? each.extent.from ?? t('trying.all')}</bdi>
              </li>
            ))}
          </ol>
        </details>
      ) : null}
    </section>
  )
}

/** Plays what happened as tokens on the drawing. */
function playTry(): void {
  const { tried, of } = useTrying.getState()
  if (!tried || !of) return
  playTrace(of, traceOf(tried.history, externalsOf(of)), t('trying.play'), false)
  useEditor.setState({ panel: 'problems' })
}
