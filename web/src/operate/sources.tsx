/** Sources that fail: since when, why, and what to do; and what else is fed. */
import { Link } from '@tanstack/react-router'
import { at, post } from '@/api/client'
import { useSources } from '@/api/operations'
import { useRights } from '@/api/rights'
import type { Source } from '@/api/types'
import { isMessage, t } from '@/messages'
import { useActing } from '@/run/acting'
import { Button, Icon, StatusChip, Table, Time } from '@/ui'
import { kindText } from './kinds'
import { useTitles } from './titles'

/** Those that fail; none where the server does not tell. */
export const useFailing = (): Source[] => (useSources().data?.items ?? []).filter((each) => each.state === 'failing')

const keyOf = (each: Source) => `${each.workflow} ${each.what} ${each.event ?? ''}`
const hintOf = (each: Source) => (isMessage(`op.source.${each.kind}`) ? t(`op.source.${each.kind}` as 'op.source.topic') : (each.hint ?? ''))
const nameOf = (each: Source) => (each.event ? t('op.sourceOf', { kind: kindText(each.kind), event: each.event }) : kindText(each.kind))

/** Each with its cause and a sentence on what to do. */
export function FailingSources({ sources }: { sources: Source[] }) {
  const { busy, act } = useActing([['sources'], ['incidents'], ['workflows']])
  const { authors } = useRights()
  if (sources.length === 0) return null
  return (
    <section aria-label={t('op.failingSources')}>
      <div className="sect">
        <h2>{t('op.failingSources')}</h2>
        <span className="cap">{t('op.failingAbout')}</span>
      </div>
      {sources.map((each) => (
        <div key={keyOf(each)} className="att fsrc">
          <span className="bad">
            <Icon name="failed" />
          </span>
          <div className="min-w-0">
            <b>
              <bdi>{each.workflow}</bdi>: {nameOf(each)}
            </b>
            <div className="[overflow-wrap:anywhere]">
              <bdi>{each.error}</bdi>
            </div>
            <div className="mut">{hintOf(each)}</div>
          </div>
          <span className="cap">{each.failures > 0 ? t('op.timesFailed', { n: each.failures }) : ''}</span>
          <span className="cap">{each.error_at ? <Time at={each.error_at} as="ago" /> : null}</span>
          <div className="row flex-wrap justify-end gap-1.5">
            {authors && each.what === 'source' ? (
              <Button size="s" busy={busy} onClick={() => void act(() => post(at`/api/workflows/${each.workflow}/stop`), t('op.sourceStopped', { name: each.workflow }))}>
                {t('op.stopSource')}
              </Button>
            ) : null}
            <Link className="btn sm" to="/app/workflows/$name" params={{ name: each.workflow }}>
              {t('op.toWorkflow')}
            </Link>
          </div>
        </div>
      ))}
    </section>
  )
}

const LOOKS: Record<string, string> = { fed: 'running', idle: 'paused', failing: 'failed' }

/** All of them, with the node that feeds each. */
export function SourceTable() {
  const title = useTitles()
  const items = useSources().data?.items ?? []
  if (items.length === 0) return null
  return (
    <section aria-label={t('op.sources')}>
      <div className="sect">
        <h2>{t('op.sources')}</h2>
        <span className="cap">{items.length}</span>
      </div>
      <Table
        label={t('op.sources')}
        rows={items}
        rowKey={keyOf}
        columns={[
          { id: 'name', head: t('ru.workflow'), cell: (each) => <Link to="/app/workflows/$name" params={{ name: each.workflow }}><bdi>{title(each.workflow)}</bdi></Link> },
          { id: 'kind', head: t('op.kind'), cell: nameOf },
          { id: 'state', head: t('ru.status'), cell: (each) => <StatusChip status={LOOKS[each.state] ?? 'waiting'} text={isMessage(`op.fed.${each.state}`) ? t(`op.fed.${each.state}` as 'op.fed.fed') : each.state} /> },
          { id: 'node', head: t('op.node'), cell: (each) => <code>{each.node ?? '–'}</code> },
        ]}
      />
    </section>
  )
}
