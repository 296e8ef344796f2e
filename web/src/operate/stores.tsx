/** Object stores: whether they can be reached, and what came from them. Hooks: where calls go. */
import { Link } from '@tanstack/react-router'
import { useStores } from '@/api/operations'
import { useHooks } from '@/api/queries'
import { PageBody, PageHead } from '@/app/heading'
import { t } from '@/messages'
import { EmptyState, EventPill, StatusChip, Table, Time } from '@/ui'
import { LoadedOrAbsent } from '@/ui/absent'
import { CopyButton } from '@/ui/json'
import { FailingSources, SourceTable, useFailing } from './sources'

export default function StoresPage() {
  return (
    <>
      <PageHead title={t('nav.stores')} />
      <PageBody label={t('nav.stores')}>
        <FailingSources sources={useFailing()} />
        <LoadedOrAbsent query={useStores()}>
          {(page) =>
            page.items.length === 0 ? (
              <EmptyState icon="store" title={t('op.noStore')} detail={t('op.noStoreDetail')} />
            ) : (
              <Table
                tall
                label={t('nav.stores')}
                rows={page.items}
                rowKey={(each) => each.name}
                columns={[
                  { id: 'name', head: t('op.store'), cell: (each) => <b>{each.name}</b> },
                  { id: 'kind', wide: true, head: t('op.kind'), cell: (each) => <code>{each.kind}</code> },
                  { id: 'bucket', wide: true, head: t('op.bucket'), cell: (each) => <bdi>{each.bucket}</bdi> },
                  { id: 'state', head: t('ru.status'), cell: (each) => <StatusChip status={each.reachable ? 'succeeded' : 'failed'} text={each.error ?? (each.reachable ? t('op.reachable') : t('op.unreachable'))} /> },
                  { id: 'last', wide: true, head: t('op.lastEvent'), cell: (each) => (each.last_event ? <span title={each.last_event.key}>{each.last_event.event} <Time at={each.last_event.at} as="ago" /></span> : '–') },
                  { id: 'hook', head: t('op.hook'), cell: (each) => <HookAddress path={`/hooks/s3/${encodeURIComponent(each.name)}`} /> },
                ]}
              />
            )
          }
        </LoadedOrAbsent>
        <SourceTable />
        <HookTable />
      </PageBody>
    </>
  )
}

/** The addresses that there are: what no workflow takes calls for is not offered. */
function HookTable() {
  return (
    <section aria-label={t('op.hooks')}>
      <div className="sect">
        <h2>{t('op.hooks')}</h2>
        <span className="cap">{t('op.hooksDetail')}</span>
      </div>
      <LoadedOrAbsent query={useHooks()} lines={2}>
        {(page) =>
          page.items.length === 0 ? (
            <EmptyState icon="outside" title={t('op.noHook')} detail={t('op.noHookDetail')} />
          ) : (
            <Table
              label={t('op.hooks')}
              rows={page.items}
              rowKey={(each) => each.path}
              columns={[
                { id: 'name', head: t('ru.workflow'), cell: (each) => <Link to="/app/workflows/$name" params={{ name: each.workflow }}><bdi>{each.title ?? each.workflow}</bdi></Link> },
                { id: 'does', head: t('op.hookDoes'), cell: (each) => (each.event === null ? t(each.started ? 'op.hookStarts' : 'op.hookStopped') : <EventPill name={each.event} />) },
                { id: 'hook', head: t('op.hook'), cell: (each) => <HookAddress path={each.path} /> },
              ]}
            />
          )
        }
      </LoadedOrAbsent>
    </section>
  )
}

function HookAddress({ path }: { path: string }) {
  return (
    <span className="row">
      <code className="ell">{path}</code>
      <CopyButton text={() => location.origin + path} />
    </span>
  )
}
