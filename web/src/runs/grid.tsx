/** Steps × last runs of one workflow: the newest right; a column opens its run. */
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { at, get, query } from '@/api/client'
import { cache, useDraft, useVersion } from '@/api/queries'
import type { Page, Run, RunLine } from '@/api/types'
import { onChange, useConnection } from '@/live/connection'
import { t } from '@/messages'
import { EmptyState, Icon, Loaded, STEP_LOOKS, StatusChip, durationText, useNow } from '@/ui'
import { type Said, stepsOf, titleOf } from '@/run/facts'
import { type Filter, asked } from './filters'
import { knownRuns } from './known'

const LAST = 49
const WIDE = 21
const LEFT = 152

interface Grid {
  runs: Run[]
}

/** The list is asked for every so often; of its runs only those that the stream of changes named. */
function useGrid(filter: Filter) {
  const queryKey = ['runs', 'grid', JSON.stringify(filter)]
  const [known] = useState(() => knownRuns((id) => get<Run>(at`/api/runs/${id}`)))
  useEffect(() => onChange((change) => known.touch(change.run)), [known])
  return useQuery({
    queryKey,
    queryFn: async ({ signal }): Promise<Grid> => {
      if (useConnection.getState().state !== 'live' || cache.getQueryState(queryKey)?.isInvalidated) known.doubt()
      const { items } = await get<Page<RunLine>>(`/api/runs${query({ ...asked(filter, Date.now()), limit: LAST })}`, signal)
      return { runs: (await known.of(items)).reverse() }
    },
    refetchInterval: 15_000,
  })
}

const LEGEND = ['complete', 'running', 'failed', 'canceled', 'blocked']

export function RunGrid({ filter }: { filter: Filter }) {
  const name = filter.workflow ?? ''
  const draft = useDraft(name).data
  const grid = useGrid(filter)
  const version = filter.version ? Number(filter.version) : draft?.published_version
  const said = useVersion(name, version ?? undefined).data?.definition as unknown as Said | undefined
  return (
    <section className="border-t border-line px-6 pt-2.5 pb-3">
      <Loaded query={grid}>
        {({ runs }) => {
          const steps = stepsOf(said)
          if (runs.length === 0) return <EmptyState title={t('ru.none')} />
          return (
            <>
              <div className="row mb-2 flex-wrap">
                <h2>
                  <bdi>{said?.title ?? name}</bdi>
                </h2>
                <span className="cap">{t('ru.gridAbout', { steps: steps.length, n: runs.length })}</span>
                <span className="grow" />
                <span className="row t11 mut wide-only gap-3.5">
                  {LEGEND.map((status) => (
                    <StatusChip key={status} of="step" bare status={status} />
                  ))}
                  <span>
                    <b className="warn">2</b> {t('ru.gridAttempts')}
                  </span>
                </span>
              </div>
              <Drawn runs={runs} steps={steps} said={said} />
            </>
          )
        }}
      </Loaded>
    </section>
  )
}

function Drawn({ runs, steps, said }: { runs: Run[]; steps: string[]; said: Said | undefined }) {
  const navigate = useNavigate()
  const now = useNow(2_000)
  const lengths = runs.map((run) => Math.max(0, (run.ended_at ? new Date(run.ended_at).getTime() : now) - new Date(run.started_at).getTime()))
  const longest = Math.max(1, ...lengths)
  const height = 44 + steps.length * WIDE
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what can be scrolled must be reached by keys
    <section className="overflow-x-auto" tabIndex={0} aria-label={t('ru.grid')}>
      {/* biome-ignore lint/a11y/noSvgWithoutTitle: its columns are links with names */}
      <svg className="rgrid" width={LEFT + runs.length * WIDE + 8} height={height}>
        <text className="cap" x="0" y="30">
          {t('ru.gridLength')}
        </text>
        {steps.map((step, row) => (
          <text key={step} x="0" y={56 + row * WIDE}>
            {cut(titleOf(said, step))}
          </text>
        ))}
        {runs.map((run, column) => {
          const x = LEFT + column * WIDE
          const tall = 4 + (22 * (lengths[column] ?? 0)) / longest
          return (
            <a key={run.id} href={`/app/runs/${encodeURIComponent(run.id)}`} aria-label={columnLabel(run, lengths[column] ?? 0)} onClick={(event) => {
                event.preventDefault()
                void navigate({ to: '/app/runs/$id', params: { id: run.id } })
              }}>
              <title>{columnLabel(run, lengths[column] ?? 0)}</title>
              <rect className="col" x={x - 3} y="2" width={WIDE - 1} height={height - 4} rx="3" />
              <rect className={`len ${run.status}`} x={x} y={34 - tall} width="14" height={tall} rx="1.5" />
              {steps.map((step, row) => {
                const state = run.steps[step]
                const look = STEP_LOOKS[state?.status ?? 'blocked']
                return look ? (
                  <g key={step} className={look.tint === 'idle' ? 'fnt' : look.tint}>
                    <Icon name={look.icon} x={x} y={44 + row * WIDE} width="14" height="14" />
                    {state && state.attempts > 1 ? (
                      <text className="two" x={x + 12} y={47 + row * WIDE}>
                        {state.attempts}
                      </text>
                    ) : null}
                  </g>
                ) : null
              })}
            </a>
          )
        })}
      </svg>
    </section>
  )
}

const columnLabel = (run: Run, length: number): string => `${run.subject ?? run.id}, ${t(`run.${run.status}`)}, ${durationText(length)}`
const cut = (text: string) => (text.length > 22 ? `${text.slice(0, 21)}…` : text)
