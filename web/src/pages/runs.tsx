import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect, useMemo, useRef, useState } from 'react'
import { type Incident, useIncidents, usePulse } from '@/api/operations'
import { useWorkflows } from '@/api/queries'
import { useRights } from '@/api/rights'
import type { RunLine } from '@/api/types'
import { PageBody, PageHead } from '@/app/heading'
import { useKeys } from '@/app/keys'
import { LooksOn, May } from '@/app/may'
import { useConnection } from '@/live/connection'
import { t, want } from '@/messages'
import { incidentText } from '@/operate/causes'
import { BulkBar } from '@/runs/bulk'
import { FilterChips, partText, valueText } from '@/runs/chips'
import { CHIPS, type Filter, type Part, filterOf, isEmpty, without } from '@/runs/filters'
import { RunGrid } from '@/runs/grid'
import { Strange, lineNow, useNews, useRunList } from '@/runs/list'
import StartDialog from '@/runs/start'
import { Views } from '@/runs/views'
import { Button, Checkbox, Duration, EmptyState, ErrorPart, SearchInput, Segments, Select, Skeleton, StatusChip, Time } from '@/ui'
import { useLater } from '@/ui/later'
import { save } from '@/ui/save'

want('pages')

const WAIT_TO_SEARCH = 250

export default function RunsPage() {
  const search = useSearch({ strict: false }) as Record<string, unknown>
  const navigate = useNavigate()
  const filter = useMemo(() => filterOf(search), [search])
  const grid = search.show === 'grid'
  const setFilter = (next: Filter, show = grid) => void navigate({ to: '/app/runs', search: { ...next, ...(show ? { show: 'grid' } : {}) }, replace: false })
  const { found, lines, queryKey } = useRunList(filter)
  const { changed, fresh, forget } = useNews(lines, filter)
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const [all, setAll] = useState(false)
  const [starting, setStarting] = useState(search.start === 1 || search.start === '1')
  const ended = usePulse('24h', useLater()).data?.ended.reduce((sum, each) => sum + each, 0)
  const live = useConnection((state) => state.state === 'live')
  const shown = useMemo(() => lines.map((line) => lineNow(line, changed.get(line.id))), [lines, changed])
  const pick = grid && !filter.workflow
  const none = found.isSuccess && lines.length === 0
  const clear = () => {
    setChosen(new Set())
    setAll(false)
  }
  const choose = (next: ReadonlySet<string>) => {
    setAll(false)
    setChosen(next)
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: another list has nothing chosen
  useEffect(clear, [queryKey[2]])
  return (
    <>
      <PageHead title={t('nav.runs')} about={ended === undefined ? undefined : t('ru.ended24', { n: ended })}>
        <span className="row t12 mut wide-only">
          <span className={`livedot ${live ? '' : 'off'}`} aria-hidden="true" />
          {live ? t('shell.live') : t('ru.notLive')}
        </span>
        <Button icon="download" className="wide-only" onClick={() => save('runs.json', 'application/json', JSON.stringify(shown, null, 2))}>
          {t('ru.download')}
        </Button>
        <LooksOn />
        <May what="operates">
          <Button kind="primary" icon="plus" onClick={() => setStarting(true)}>
            {t('ru.start')}
          </Button>
        </May>
      </PageHead>
      <div className="col gap-2 border-b border-line px-6 py-2.5 max-[719px]:px-4">
        <div className="row">
          <Views filter={filter} onChange={setFilter} />
          <span className="grow" />
          <span className="cap wide-only">{t('ru.timesLocal')}</span>
        </div>
        <div className="row flex-wrap gap-1.5">
          <Search filter={filter} onChange={setFilter} />
          <FilterChips filter={filter} onChange={setFilter} />
          <span className="grow" />
          <Segments
            label={t('ru.show')}
            value={grid ? 'grid' : 'list'}
            choices={[
              { value: 'list', label: t('ru.list'), icon: 'runs' },
              { value: 'grid', label: t('ru.gridWord'), icon: 'grid' },
            ]}
            onChange={(next) => setFilter(filter, next === 'grid')}
          />
        </div>
      </div>
      {chosen.size > 0 || all ? <BulkBar chosen={shown.filter((line) => chosen.has(line.id))} all={all} filter={filter} onAll={setAll} onClear={clear} /> : null}
      {fresh > 0 ? (
        <div className="news" role="status">
          <Button size="s" icon="again" onClick={forget}>
            {t('ru.news', { n: fresh })}
          </Button>
        </div>
      ) : null}
      <PageBody label={t('nav.runs')} id="runs">
        {found.isError && lines.length === 0 ? <NotListed error={found.error} filter={filter} onChange={setFilter} onRetry={() => void found.refetch()} /> : null}
        {found.isPending ? <Skeleton lines={8} /> : null}
        {none && !pick ? <Nothing filter={filter} onChange={setFilter} onStart={() => setStarting(true)} /> : null}
        {lines.length > 0 && !grid ? <RunTable lines={shown} chosen={chosen} all={all} onChosen={choose} /> : null}
        {pick ? <EmptyState icon="grid" title={t('ru.gridPick')} detail={t('ru.gridPickDetail')} action={<PickWorkflow onPick={(workflow) => setFilter({ ...filter, workflow }, true)} />} /> : null}
        {grid && !pick && !none ? <RunGrid filter={filter} /> : null}
        {found.hasNextPage && !grid ? (
          <div className="p-3 text-center">
            <Button busy={found.isFetchingNextPage} onClick={() => void found.fetchNextPage()}>
              {t('ru.more')}
            </Button>
          </div>
        ) : null}
      </PageBody>
      {filter.workflow && !grid && lines.length > 0 && lines.length < 12 ? <RunGrid filter={filter} /> : null}
      {starting ? <StartDialog workflow={filter.workflow} onClose={() => setStarting(false)} /> : null}
    </>
  )
}

/** Which workflow the grid shall show. */
function PickWorkflow({ onPick }: { onPick: (name: string) => void }) {
  const workflows = useWorkflows().data?.items.filter((each) => each.published_version !== null) ?? []
  if (workflows.length === 0) return null
  return (
    <div className="w-[260px] text-start">
      <Select label={t('ru.workflow')} placeholder={t('ru.gridPickOne')} value="" options={workflows.map((each) => ({ value: each.name, label: each.title ?? each.name }))} onChange={onPick} />
    </div>
  )
}

function Search({ filter, onChange }: { filter: Filter; onChange: (filter: Filter) => void }) {
  const [text, setText] = useState(filter.q ?? '')
  const field = useRef<HTMLDivElement>(null)
  const keys = useMemo(() => ({ F: () => field.current?.querySelector('input')?.focus() }), [])
  useKeys(keys)
  const known = useRef(text) // what was looked for last, by this field or by others: only theirs takes the place of what is typed
  useEffect(() => {
    if ((filter.q ?? '') === known.current) return
    known.current = filter.q ?? ''
    setText(known.current)
  }, [filter.q])
  // biome-ignore lint/correctness/useExhaustiveDependencies: only what is typed is a reason
  useEffect(() => {
    if (text === known.current) return
    const timer = setTimeout(() => {
      known.current = text
      onChange(text ? { ...filter, q: text } : without(filter, 'q'))
    }, WAIT_TO_SEARCH)
    return () => clearTimeout(timer)
  }, [text])
  return (
    <div ref={field} className="w-[260px] max-[719px]:w-full">
      <SearchInput label={t('ru.search')} keys="F" value={text} onChange={(event) => setText(event.target.value)} />
    </div>
  )
}

/** A filter that asks for what cannot be, or a list that could not be had. */
function NotListed({ error, filter, onChange, onRetry }: { error: unknown; filter: Filter; onChange: (filter: Filter) => void; onRetry: () => void }) {
  if (!(error instanceof Strange)) return <ErrorPart error={error} onRetry={onRetry} />
  const { part } = error
  const value = valueText(part, filter[part] ?? '', String)
  return <EmptyState icon="search" title={t('ru.strange', { part: partText(part), value })} action={<Button onClick={() => onChange(without(filter, part))}>{t('ru.removeFilter', { part: partText(part), value })}</Button>} />
}

function Nothing({ filter, onChange, onStart }: { filter: Filter; onChange: (filter: Filter) => void; onStart: () => void }) {
  if (isEmpty(filter)) {
    return (
      <EmptyState
        icon="runs"
        title={t('ru.none')}
        detail={t('ru.noneDetail')}
        action={
          <May what="operates">
            <Button kind="primary" onClick={onStart}>
              {t('ru.start')}
            </Button>
          </May>
        }
      />
    )
  }
  const part = ([...CHIPS, 'q'] as Part[]).find((each) => filter[each]) ?? 'q'
  return <EmptyState icon="search" title={t('ru.noMatch')} action={<Button onClick={() => onChange(without(filter, part))}>{t('ru.removeFilter', { part: partText(part), value: valueText(part, filter[part] ?? '', String) })}</Button>} />
}

function RunTable({ lines, chosen, all, onChosen }: { lines: RunLine[]; chosen: ReadonlySet<string>; all: boolean; onChosen: (chosen: ReadonlySet<string>) => void }) {
  const navigate = useNavigate()
  const { operates } = useRights()
  const workflows = useWorkflows().data?.items
  const titles = useMemo(() => new Map(workflows?.map((each) => [each.name, each.title ?? each.name])), [workflows])
  const wantsReasons = lines.some((line) => line.status === 'failed' || line.status === 'stalled')
  const incidents = useIncidents({}, wantsReasons).data?.items
  const reasons = useMemo(() => new Map((wantsReasons ? (incidents ?? []) : []).map((each) => [each.run, reasonOf(each)])), [incidents, wantsReasons])
  const [current, setCurrent] = useState(-1)
  const body = useRef<HTMLTableSectionElement>(null)
  const pick = (id: string) => {
    const next = new Set(chosen)
    if (next.has(id)) next.delete(id)
    else next.add(id)
    onChosen(next)
  }
  const step = (by: number) => {
    const next = Math.min(lines.length - 1, Math.max(0, current + by))
    setCurrent(next)
    body.current?.rows[next]?.scrollIntoView({ block: 'nearest' })
    body.current?.rows[next]?.querySelector<HTMLElement>('a')?.focus({ preventScroll: true })
  }
  useKeys({
    J: () => step(1),
    K: () => step(-1),
    X: () => operates && lines[current] && pick(lines[current].id),
    Enter: () => lines[current] && document.activeElement === document.body && void navigate({ to: '/app/runs/$id', params: { id: lines[current].id } }),
  })
  const every = all || (lines.length > 0 && lines.every((line) => chosen.has(line.id)))
  return (
    <>
      <table className="runs wide-only" aria-label={t('nav.runs')}>
        <colgroup>
          <col className="w-12" />
          <col className="w-[21%]" />
          <col className="w-[18%]" />
          <col className="w-[164px]" />
          <col />
          <col className="w-[110px] max-[1023px]:hidden" />
          <col className="w-[110px]" />
        </colgroup>
        <thead>
          <tr>
            {operates ? (
              <th scope="col">
                <Checkbox label={t('table.selectAll')} checked={every} onChange={(on) => onChosen(on ? new Set(lines.map((line) => line.id)) : new Set())} />
              </th>
            ) : (
              <td />
            )}
            <th scope="col">{t('ru.subject')}</th>
            <th scope="col">{t('ru.workflow')}</th>
            <th scope="col">{t('ru.status')}</th>
            <th scope="col">{t('ru.waitsOrWhy')}</th>
            <th scope="col" className="r max-[1023px]:hidden">
              {t('ru.started')}
            </th>
            <th scope="col" className="r">
              {t('ru.length')}
            </th>
          </tr>
        </thead>
        <tbody ref={body}>
          {lines.map((line, at) => (
            <tr key={line.id} className={`${all || chosen.has(line.id) ? 'sel' : ''} ${at === current ? 'cur' : ''}`}>
              <td>
                <May what="operates">
                  <Checkbox label={t('table.select', { name: line.subject ?? line.id })} checked={all || chosen.has(line.id)} onChange={() => pick(line.id)} />
                </May>
              </td>
              <td>
                <Link className="subj" to="/app/runs/$id" params={{ id: line.id }} onFocus={() => setCurrent(at)} title={line.subject ?? line.id}>
                  <bdi>{line.subject ?? line.id}</bdi>
                </Link>
              </td>
              <td className="mut">
                <bdi>{titles.get(line.workflow) ?? line.workflow}</bdi> <span className="mut max-[1023px]:hidden">v{line.version}</span>
              </td>
              <td>
                <StatusChip status={line.status} />
              </td>
              <td className="mut">
                <bdi>{line.waiting_for.length > 0 ? line.waiting_for.join(', ') : (reasons.get(line.id) ?? '')}</bdi>
              </td>
              <td className="mut r max-[1023px]:hidden">
                <When at={line.started_at} />
              </td>
              <td className="r">
                <Duration from={line.started_at} to={line.ended_at} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <ul className="phone-only" aria-label={t('nav.runs')}>
        {lines.map((line) => (
          <li key={line.id}>
            <Link className="lrow" to="/app/runs/$id" params={{ id: line.id }}>
              <b className="ell">
                <bdi>{line.subject ?? line.id}</bdi>
              </b>
              <StatusChip status={line.status} />
              <span className="mut ell">
                <bdi>{titles.get(line.workflow) ?? line.workflow}</bdi>
                {line.waiting_for.length > 0 ? `: ${line.waiting_for.join(', ')}` : reasons.get(line.id) ? `: ${reasons.get(line.id)}` : ''}
              </span>
              <span className="cap">
                <When at={line.started_at} />
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </>
  )
}

const DAY = 86_400_000

/** The time of today, else the day. */
function When({ at }: { at: string }) {
  return <Time at={at} as={Date.now() - new Date(at).getTime() < DAY ? 'time' : 'date'} />
}

function reasonOf(incident: Incident): string {
  const starving = incident.starving?.[0]
  if (starving) return t('ru.lacks', { step: starving.step, events: starving.missing.map((name) => t('why.named', { name })).join(', ') })
  return incident.steps?.[0] ? `${incident.steps[0]}: ${incidentText(incident)}` : incidentText(incident)
}
