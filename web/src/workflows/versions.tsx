/** The versions of a workflow: what each changed, in the drawing and in the text, and a way back. */
import { useMemo, useState } from 'react'
import { at, get, post } from '@/api/client'
import { useDraft, useVersion, useVersions } from '@/api/queries'
import { May } from '@/app/may'
import { type Definition, Diagram } from '@/diagram'
import type { Draft, Version } from '@/api/types'
import { t } from '@/messages'
import { Button, Dialog, EmptyState, Icon, Loaded, Segments, Select, Time } from '@/ui'
import { useActing } from '@/run/acting'
import { useOffers } from '@/run/drawing'
import type { Said } from '@/run/facts'
import { type StepChange, stepDiff, textDiff } from './diff'

const DRAFT = 0

export function VersionsTab({ name }: { name: string }) {
  const versions = useVersions(name)
  const draft = useDraft(name).data
  const [chosen, setChosen] = useState<number | null>(null)
  const [against, setAgainst] = useState<number | null>(null)
  const [as, setAs] = useState<'drawing' | 'text'>('drawing')
  return (
    <Loaded query={versions}>
      {(page) => {
        if (page.items.length === 0) return <EmptyState icon="box" title={t('wf.noVersion')} detail={t('wf.noVersionDetail')} />
        const numbers = page.items.map((each) => each.version)
        const newer = chosen ?? (draft?.changed ? DRAFT : (numbers[0] ?? DRAFT))
        const before = numbers.filter((each) => newer === DRAFT || each < newer)
        const older = before.find((each) => each === against) ?? before[0] ?? numbers.at(-1) ?? 1 // never with itself, where there is another
        return (
          <div className="grid h-full min-h-0 min-[720px]:grid-cols-[260px_1fr]">
            <ul className="overflow-auto border-e border-line" aria-label={t('wf.versions')}>
              {draft?.changed ? <VersionLine on={newer === DRAFT} title={t('wf.draft')} note={t('wf.draftNote')} at={draft.updated_at} onClick={() => setChosen(DRAFT)} /> : null}
              {page.items.map((each) => (
                <VersionLine key={each.version} on={newer === each.version} title={`v${each.version}`} note={each.note} at={each.at} onClick={() => setChosen(each.version)}>
                  <May what="authors">
                    <Restore name={name} version={each.version} latest={numbers[0] ?? each.version} />
                  </May>
                </VersionLine>
              ))}
            </ul>
            <div className="col min-h-0 min-w-0">
              <div className="row flex-wrap border-b border-line px-4 py-2">
                <span className="t12 mut">{t('wf.compare')}</span>
                <div className="w-[90px]">
                  <Select label={t('wf.older')} value={String(older)} options={(before.length > 0 ? before : [older]).map((each) => ({ value: String(each), label: `v${each}` }))} onChange={(next) => setAgainst(Number(next))} />
                </div>
                <span className="t12 mut">→</span>
                <b className="t12">{newer === DRAFT ? t('wf.draft') : `v${newer}`}</b>
                <span className="grow" />
                <Segments size="s" label={t('wf.diffAs')} value={as} choices={[{ value: 'drawing', label: t('wf.asDrawing') }, { value: 'text', label: t('wf.asText') }]} onChange={setAs} />
              </div>
              <Difference name={name} older={older} newer={newer} as={as} />
            </div>
          </div>
        )
      }}
    </Loaded>
  )
}

/** Makes a version the draft; where that would take changes away that nobody published, it says which and asks. */
function Restore({ name, version, latest }: { name: string; version: number; latest: number }) {
  const { busy, act } = useActing([['workflow', name], ['workflows']])
  const [lost, setLost] = useState<Record<string, StepChange> | null>(null)
  const restore = () => void act(() => post(at`/api/workflows/${name}/versions/${version}/restore`), t('wf.restored', { n: version })).then((done) => done && setLost(null))
  const begin = () =>
    void act(async () => {
      const draft = await get<Draft>(at`/api/workflows/${name}`)
      if (!draft.changed) return restore()
      const published = await get<Version>(at`/api/workflows/${name}/versions/${latest}`)
      setLost(stepDiff(published.definition as unknown as Said, draft.definition as unknown as Said))
    })
  return (
    <>
      <Button size="s" busy={busy} onClick={begin}>
        {t('wf.restore')}
      </Button>
      <Dialog
        open={lost !== null}
        onClose={() => setLost(null)}
        title={t('wf.restoreAsk', { n: version })}
        detail={t('wf.restoreLoses')}
        actions={
          <>
            <Button onClick={() => setLost(null)}>{t('wf.restoreNot')}</Button>
            <Button kind="danger" busy={busy} onClick={restore}>
              {t('wf.restoreDo', { n: version })}
            </Button>
          </>
        }
      >
        <Changes changes={lost ?? {}} />
      </Dialog>
    </>
  )
}

function VersionLine({ on, title, note, at: moment, onClick, children }: { on: boolean; title: string; note: string | null; at: string | null; onClick: () => void; children?: React.ReactNode }) {
  return (
    <li className={`row border-b border-line px-6 py-2 ${on ? 'bg-accent-soft' : ''}`}>
      <button type="button" className="grow cursor-pointer text-start" aria-pressed={on} onClick={onClick}>
        <b className="t12">{title}</b>{' '}
        <span className="mut t11">{moment ? <Time at={moment} as="ago" /> : null}</span>
        <div className="mut t12 ell">
          <bdi>{note ?? ''}</bdi>
        </div>
      </button>
      {children}
    </li>
  )
}

const MARKS: Record<StepChange, { icon: 'plus' | 'minus' | 'edit'; tint: string; key: 'wf.added' | 'wf.removed' | 'wf.changed' }> = {
  added: { icon: 'plus', tint: 'ok', key: 'wf.added' },
  removed: { icon: 'minus', tint: 'bad', key: 'wf.removed' },
  changed: { icon: 'edit', tint: 'warn', key: 'wf.changed' },
}
/** What stands in a box, by the kinds of steps that the drawing knows. */
const AS_STATUS: Record<StepChange, string> = { added: 'complete', removed: 'failed', changed: 'ready' }

function Changes({ changes }: { changes: Record<string, StepChange> }) {
  return (
    <ul className="row flex-wrap">
      {Object.entries(changes).map(([step, change]) => (
        <li key={step} className={`tag ${MARKS[change].tint}`}>
          <Icon name={MARKS[change].icon} size="xs" />
          <bdi>{step}</bdi>: {t(MARKS[change].key)}
        </li>
      ))}
      {Object.keys(changes).length === 0 ? <li className="mut t12">{t('wf.noStepDiffers')}</li> : null}
    </ul>
  )
}

function Difference({ name, older, newer, as }: { name: string; older: number; newer: number; as: 'drawing' | 'text' }) {
  const before = useVersion(name, older).data
  const version = useVersion(name, newer === DRAFT ? undefined : newer).data
  const draft = useDraft(name).data
  const after = newer === DRAFT ? draft : version
  const offers = useOffers()
  const changes = useMemo(() => stepDiff(before?.definition as unknown as Said | undefined, after?.definition as unknown as Said | undefined), [before, after])
  const both = useMemo(() => (before && after ? together(before.definition as unknown as Definition, after.definition as unknown as Definition, changes) : null), [before, after, changes])
  const steps = useMemo(() => Object.fromEntries(Object.entries(changes).map(([step, change]) => [step, { status: AS_STATUS[change], text: t(MARKS[change].key) }])), [changes])
  if (!before || !after || !both) return null
  if (as === 'text') {
    const lines = textDiff(before.text, after.text)
    return (
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what can be scrolled must be reached by keys
      <section className="diff m-4 min-h-0 flex-1" tabIndex={0} aria-label={t('wf.asText')}>
        {lines.every((line) => line.kind === 'same') ? <div className="mut">{t('wf.noDifference')}</div> : null}
        {lines.map((line, at) => (
          <div key={at} className={line.kind}>
            <span aria-hidden="true">{line.kind === 'add' ? '+ ' : line.kind === 'del' ? '− ' : '  '}</span>
            {line.kind === 'same' ? null : <span className="sr">{line.kind === 'add' ? t('wf.added') : t('wf.removed')} </span>}
            {line.text}
          </div>
        ))}
      </section>
    )
  }
  return (
    <>
      <div className="px-4 py-2">
        <Changes changes={changes} />
      </div>
      <div className="min-h-[300px] flex-1">
        <Diagram definition={both} offers={offers} steps={steps} />
      </div>
    </>
  )
}

/** The newer drawing, with the steps that are gone. */
function together(before: Definition, after: Definition, changes: Record<string, StepChange>): Definition {
  const gone = Object.entries(before.steps).filter(([name]) => changes[name] === 'removed')
  return { ...after, name: `${after.name} diff`, steps: { ...after.steps, ...Object.fromEntries(gone) }, view: gone.length > 0 ? undefined : after.view } as Definition
}
