/** What happened to a release, the newest first. */
import { useEffect, useState } from 'react'
import { type Release, type ReleaseEvent, idOf, useReleaseEvents } from '@/api/releases'
import { t } from '@/messages'
import { Icon, Loaded, Segments, Time } from '@/ui'
import { More } from './more'

const LOOKS = { info: { icon: 'note', tint: 'idle' }, warning: { icon: 'warning', tint: 'warn' }, error: { icon: 'failed', tint: 'bad' } } as const

export function Events({ release }: { release: Release }) {
  const [only, setOnly] = useState<'all' | 'warnings'>('all')
  const version = `${release.state} ${release.states.length} ${release.tasks.reduce((sum, each) => sum + each.states.length, 0)}`
  const found = useReleaseEvents(release.kf_id, only === 'all' ? undefined : 'warning,error')
  const { refetch } = found
  // biome-ignore lint/correctness/useExhaustiveDependencies: whenever the release has changed there is more to tell
  useEffect(() => void refetch(), [version, refetch])
  const service = new Map(release.tasks.map((each) => [each.kf_id, each.service_name]))
  return (
    <section className="revents" aria-label={t('re.events')}>
      <div className="row mb-1.5">
        <h2>{t('re.events')}</h2>
        <span className="cap">{found.data?.count ?? ''}</span>
        <span className="grow" />
        <Segments size="s" label={t('re.eventsShown')} value={only} choices={[{ value: 'all', label: t('re.all') }, { value: 'warnings', label: t('re.warnings') }]} onChange={setOnly} />
      </div>
      <Loaded query={found}>
        {(page) => {
          if (page.results.length === 0) return <p className="mut t12 py-2">{only === 'all' ? t('re.noEvents') : t('re.noWarnings')}</p>
          return (
            <>
              <ul>
                {page.results.map((each) => (
                  <Line key={each.kf_id} event={each} service={each.task ? service.get(idOf(each.task)) : undefined} />
                ))}
              </ul>
              <More of={found} />
            </>
          )
        }}
      </Loaded>
    </section>
  )
}

function Line({ event, service }: { event: ReleaseEvent; service: string | undefined }) {
  const look = LOOKS[event.event_type]
  return (
    <li className="erow">
      <span className="mut">
        <Time at={event.created_at} as="time" dated />
      </span>
      <span className={look.tint}>
        <Icon name={look.icon} />
        <span className="sr">{t(`re.kind.${event.event_type}`)}</span>
      </span>
      <span className="said">
        <bdi>{event.message}</bdi>
      </span>
      <span className="mut r ell wide-only">
        <bdi>{service ?? ''}</bdi>
      </span>
    </li>
  )
}
