/** Beside the events of a release: its studies, what it is about, notes, and what a cancel would do. */
import { Link } from '@tanstack/react-router'
import { type Release, mayCancel, useStudies } from '@/api/releases'
import { t } from '@/messages'
import { Chip } from '@/ui'
import { Notes } from './notes'

export function Aside({ release }: { release: Release }) {
  const names = new Map(useStudies().data?.results.map((each) => [each.kf_id, each.name]))
  return (
    <aside className="raside t12" aria-label={t('re.about')}>
      <h2 className="mb-2">{t('re.studies')}</h2>
      <ul>
        {release.studies.map((id) => (
          <li key={id} className="row border-b border-line py-[5px]">
            <span className="mono t11 mut w-[92px] flex-none">{id}</span>
            <span className="grow ell">
              <bdi>{names.get(id) ?? ''}</bdi>
            </span>
          </li>
        ))}
      </ul>
      {release.description || release.tags.length > 0 ? (
        <>
          <h2 className="mt-[18px] mb-1.5">{t('re.description')}</h2>
          <p className="mut whitespace-pre-wrap">
            <bdi>{release.description}</bdi>
          </p>
          <div className="row mt-1 flex-wrap gap-1">
            {release.tags.map((tag) => (
              <Chip key={tag}>{tag}</Chip>
            ))}
          </div>
        </>
      ) : null}
      <Notes release={release} names={names} />
      {mayCancel(release) ? (
        <>
          <h2 className="mt-[18px] mb-1.5">{t('re.ifCanceled')}</h2>
          <p className="mut">{t('re.ifCanceledText', { n: release.tasks.length, version: release.version })}</p>
        </>
      ) : null}
      {release.run ? (
        <p className="mt-[18px]">
          <Link to="/app/runs/$id" params={{ id: release.run }}>
            {t('re.run')}
          </Link>
        </p>
      ) : null}
    </aside>
  )
}
