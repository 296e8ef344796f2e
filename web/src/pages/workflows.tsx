import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { HOURS, usePulse } from '@/api/operations'
import { useWorkflows } from '@/api/queries'
import type { WorkflowLine } from '@/api/types'
import { PageBody, PageHead } from '@/app/heading'
import { May } from '@/app/may'
import { t, want } from '@/messages'
import { Button, EmptyState, Loaded, SearchInput, Segments, StatusChip, Table, durationText } from '@/ui'
import { Spark } from '@/ui/charts'
import { WorkflowCard, figuresOf, liveOf, perDayText, percent } from '@/workflows/card'

want('pages')

const PERIODS = ['1h', '24h', '7d'] as const
/** Cards that are drawn at once: each asks for what its checks say. */
const CARDS = 30

export default function WorkflowsPage() {
  const navigate = useNavigate()
  const workflows = useWorkflows()
  const [period, setPeriod] = useState<(typeof PERIODS)[number]>('24h')
  const [as, setAs] = useState<'cards' | 'list'>('cards')
  const [wanted, setWanted] = useState('')
  const [most, setMost] = useState(CARDS)
  const pulse = usePulse(period).data
  const hours = HOURS[period] ?? 24
  return (
    <>
      <PageHead title={t('nav.workflows')} about={workflows.data ? t('wf.count', { n: workflows.data.items.length }) : undefined}>
        <Segments label={t('ho.period')} value={period} choices={PERIODS.map((each) => ({ value: each, label: t(`ho.p.${each}`) }))} onChange={setPeriod} />
        <Segments
          label={t('ru.show')}
          value={as}
          choices={[
            { value: 'cards', label: t('wf.cards'), icon: 'grid' },
            { value: 'list', label: t('ru.list'), icon: 'runs' },
          ]}
          onChange={setAs}
        />
        <May what="authors">
          <Button kind="primary" icon="plus" onClick={() => void navigate({ to: '/app/new' })}>
            {t('ho.new')}
          </Button>
        </May>
      </PageHead>
      <PageBody label={t('nav.workflows')}>
        <div className="px-6 py-3 max-[719px]:px-4">
          <div className="max-w-[320px]">
            <SearchInput label={t('wf.search')} value={wanted} onChange={(event) => setWanted(event.target.value)} />
          </div>
        </div>
        <Loaded query={workflows}>
          {(page) => {
            const shown = page.items.filter((each) => `${each.name} ${each.title ?? ''}`.toLocaleLowerCase().includes(wanted.toLocaleLowerCase()))
            if (page.items.length === 0) return <EmptyState icon="flow" title={t('wf.none')} action={<May what="authors"><Link className="btn p" to="/app/new">{t('ho.new')}</Link></May>} />
            if (shown.length === 0) return <EmptyState icon="search" title={t('wf.noMatch')} action={<Button onClick={() => setWanted('')}>{t('wf.showAll')}</Button>} />
            if (as === 'list') return <List lines={shown} pulse={pulse} hours={hours} />
            return (
              <>
                <div className="cards">
                  {shown.slice(0, most).map((line) => (
                    <WorkflowCard key={line.name} line={line} pulse={pulse} hours={hours} />
                  ))}
                </div>
                {shown.length > most ? (
                  <div className="pb-4 text-center">
                    <Button onClick={() => setMost(most + CARDS)}>{t('ru.more')}</Button>
                  </div>
                ) : null}
              </>
            )
          }}
        </Loaded>
      </PageBody>
    </>
  )
}

function List({ lines, pulse, hours }: { lines: WorkflowLine[]; pulse: ReturnType<typeof usePulse>['data']; hours: number }) {
  return (
    <Table
      label={t('nav.workflows')}
      rows={lines}
      rowKey={(line) => line.name}
      columns={[
        { id: 'name', head: t('ru.workflow'), cell: (line) => <Link className="font-[600]" to="/app/workflows/$name" params={{ name: line.name }}><bdi>{line.title ?? line.name}</bdi></Link> },
        { id: 'version', head: t('rp.version'), cell: (line) => (line.published_version === null ? t('wf.draft') : `v${line.published_version}`) },
        { id: 'state', head: t('ru.status'), cell: (line) => (line.paused ? <StatusChip status="paused" /> : line.started ? <StatusChip status="running" text={t('wf.started')} /> : <StatusChip status="canceled" text={t('wf.stoppedWord')} />) },
        { id: 'live', head: t('wf.liveHead'), right: true, cell: (line) => liveOf(line) },
        { id: 'day', head: t('wf.perDay'), right: true, cell: (line) => perDayText(figuresOf(pulse, line.name, hours).perDay) },
        { id: 'good', head: t('wf.succeeded'), right: true, cell: (line) => { const { good } = figuresOf(pulse, line.name, hours); return good === null ? '–' : percent(good) } },
        { id: 'typical', head: t('wf.typical'), right: true, cell: (line) => { const { typical } = figuresOf(pulse, line.name, hours); return typical === null ? '–' : durationText(typical * 1000) } },
        { id: 'spark', head: '', right: true, cell: (line) => { const { line: values } = figuresOf(pulse, line.name, hours); return values.some((each) => each > 0) ? <Spark values={values} label={t('wf.sparkLabel', { n: values.reduce((sum, each) => sum + each, 0) })} /> : null } },
      ]}
    />
  )
}
