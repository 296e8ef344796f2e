import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { type Release, shownState, usePublished, useReleases } from '@/api/releases'
import { useRights } from '@/api/rights'
import { LooksOn } from '@/app/may'
import { PageBody, PageHead } from '@/app/heading'
import { t, want } from '@/messages'
import { More } from '@/releases/more'
import { countOf } from '@/releases/phases'
import { Services } from '@/releases/services'
import { Studies } from '@/releases/studies'
import { Chip, EmptyState, Icon, Loaded, Segments, StatusChip, Table, Time } from '@/ui'

want('pages')
want('releases')

const PARTS = ['releases', 'services', 'studies'] as const
type Part = (typeof PARTS)[number]

export default function ReleasesPage() {
  const search = useSearch({ strict: false }) as { show?: unknown }
  const navigate = useNavigate()
  const part: Part = PARTS.find((each) => each === search.show) ?? 'releases'
  return (
    <>
      <PageHead title={t('nav.releases')}>
        <Segments label={t('re.show')} value={part} choices={PARTS.map((each) => ({ value: each, label: t(`re.part.${each}`) }))} onChange={(next) => void navigate({ to: '/app/releases', search: next === 'releases' ? {} : { show: next } })} />
        {useRights().operates ? (
          <Link className="btn p" to="/app/releases/new">
            <Icon name="plus" size="s" />
            {t('re.new')}
          </Link>
        ) : (
          <LooksOn text="re.looksOn" />
        )}
      </PageHead>
      <PageBody label={t('nav.releases')}>
        {part === 'services' ? <Services /> : part === 'studies' ? <Studies /> : <Releases />}
      </PageBody>
    </>
  )
}

function Releases() {
  const { operates } = useRights()
  const found = useReleases()
  return (
    <Loaded query={found}>
      {(page) =>
        page.results.length === 0 ? (
          <EmptyState icon="box" title={t('re.none')} detail={t('re.noneDetail')} action={operates ? <Link className="btn p" to="/app/releases/new">{t('re.new')}</Link> : undefined} />
        ) : (
          <>
            <Latest />
            <List releases={page.results} />
            <Rows releases={page.results} />
            <More of={found} />
          </>
        )
      }
    </Loaded>
  )
}

/** What is public now. */
function Latest() {
  const latest = [...(usePublished().data?.results ?? [])].sort((a, b) => (b.states.at(-1)?.at ?? '').localeCompare(a.states.at(-1)?.at ?? ''))[0]
  if (!latest) return null
  return (
    <p className="band ok">
      <span className="ok">
        <Icon name="done" size="s" />
      </span>
      <span>
        <b>{t('re.latest', { version: latest.version })}</b>{' '}
        <Link to="/app/releases/$id" params={{ id: latest.kf_id }}>
          <bdi>{latest.name}</bdi>
        </Link>
      </span>
    </p>
  )
}

const share = (release: Release) => t('re.share', { n: countOf(release, 'staged', 'publishing', 'published'), of: release.tasks.length })

function List({ releases }: { releases: Release[] }) {
  return (
    <div className="wide-only">
      <Table
        tall
        label={t('nav.releases')}
        rows={releases}
        rowKey={(each) => each.kf_id}
        columns={[
          {
            id: 'name',
            head: t('re.name'),
            cell: (each) => (
              <>
                <Link className="subj font-[600]" to="/app/releases/$id" params={{ id: each.kf_id }}>
                  <bdi>{each.name}</bdi>
                </Link>
                <div className="cap mono">{each.kf_id}</div>
              </>
            ),
          },
          { id: 'version', head: t('re.version'), cell: (each) => <Chip>{each.version}</Chip> },
          { id: 'state', head: t('re.state'), cell: (each) => <StatusChip of="release" status={shownState(each)} /> },
          { id: 'ready', head: t('re.ready'), cell: share },
          { id: 'studies', head: t('re.studies'), right: true, cell: (each) => each.studies.length },
          { id: 'author', head: t('re.author'), cell: (each) => <bdi>{each.author}</bdi> },
          { id: 'made', head: t('re.made'), right: true, cell: (each) => <Time at={each.created_at} as="ago" /> },
        ]}
      />
    </div>
  )
}

/** The same in two lines each, where there is little room. */
function Rows({ releases }: { releases: Release[] }) {
  return (
    <div className="phone-only">
      {releases.map((each) => (
        <Link key={each.kf_id} className="lrow" to="/app/releases/$id" params={{ id: each.kf_id }}>
          <b className="ell">
            <bdi>{each.name}</bdi>
          </b>
          <StatusChip of="release" status={shownState(each)} />
          <span className="mut">
            {each.version}, {share(each)}
          </span>
          <span className="cap">
            <Time at={each.created_at} as="ago" />
          </span>
        </Link>
      ))}
    </div>
  )
}
