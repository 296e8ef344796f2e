/** What starts by the clock, and when next. */
import { Link } from '@tanstack/react-router'
import { useSchedules } from '@/api/operations'
import { PageBody, PageHead } from '@/app/heading'
import { isMessage, language, t } from '@/messages'
import { EmptyState, StatusChip, Table, Time } from '@/ui'
import { LoadedOrAbsent } from '@/ui/absent'
import { clockText, isCommon } from '@/workflows/clock'
import { useTitles } from './titles'

/** The words of the page; a clock that it has none for is told by the server, in English alone. */
function whenText({ cron, every, schedule }: { cron: string | null; every: string | null; schedule: string }): string {
  const [line, span] = [cron ?? undefined, every ?? undefined]
  return language() === 'en' && !isCommon(line, span) ? schedule : clockText(line, span, 'op.by')
}

const LOOKS: Record<string, string> = { stopped: 'canceled', paused: 'paused', waiting: 'waiting', failing: 'failed' }

export default function SchedulesPage() {
  const title = useTitles()
  return (
    <>
      <PageHead title={t('nav.schedules')} />
      <PageBody label={t('nav.schedules')}>
        <LoadedOrAbsent query={useSchedules()}>
          {(page) =>
            page.items.length === 0 ? (
              <EmptyState icon="calendar" title={t('op.noSchedule')} detail={t('op.noScheduleDetail')} />
            ) : (
              <Table
                tall
                label={t('nav.schedules')}
                rows={page.items}
                rowKey={(each) => each.workflow}
                columns={[
                  { id: 'name', head: t('ru.workflow'), cell: (each) => <Link to="/app/workflows/$name" params={{ name: each.workflow }}><bdi>{title(each.workflow)}</bdi></Link> },
                  { id: 'state', head: t('ru.status'), cell: (each) => <span title={each.error ?? undefined}><StatusChip status={LOOKS[each.state] ?? 'running'} text={isMessage(`op.clock.${each.state}`) ? t(`op.clock.${each.state}` as 'op.clock.started') : each.state} /></span> },
                  { id: 'spec', head: t('op.when'), cell: (each) => <span title={each.cron ?? each.every ?? undefined}>{whenText(each)}</span> },
                  { id: 'tz', head: t('op.zone'), cell: (each) => each.tz },
                  {
                    id: 'next',
                    head: t('op.next'),
                    cell: (each) => (
                      <span className="row flex-wrap gap-x-3 gap-y-0">
                        {each.next.slice(0, 3).map((moment) => (
                          <Time key={moment} at={moment} />
                        ))}
                      </span>
                    ),
                  },
                  { id: 'last', wide: true, head: t('op.last'), cell: (each) => (each.last_run ? <Link to="/app/runs/$id" params={{ id: each.last_run }}>{each.last_tick ? <Time at={each.last_tick} as="ago" /> : each.last_run}</Link> : each.last_tick ? <Time at={each.last_tick} as="ago" /> : '–') },
                ]}
              />
            )
          }
        </LoadedOrAbsent>
      </PageBody>
    </>
  )
}
