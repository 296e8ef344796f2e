/** One sentence about where a release stands. */
import type { Release } from '@/api/releases'
import { shownState } from '@/api/releases'
import { t } from '@/messages'
import { Icon } from '@/ui'
import { countOf, culprits, isOut } from './phases'

interface Told {
  tint: 'acc' | 'ok' | 'warn' | 'bad' | 'idle'
  bold: string
  more?: string
}

export function Standing({ release }: { release: Release }) {
  const told = standing(release)
  return (
    <p className={`band ${told.tint}`} role="status">
      {told.tint === 'acc' ? <span className="tok" aria-hidden="true" /> : <span className={told.tint}><Icon name={told.tint === 'ok' ? 'done' : told.tint === 'bad' ? 'failed' : told.tint === 'warn' ? 'warning' : 'canceled'} size="s" /></span>}
      <span>
        <b>{told.bold}</b> {told.more ? <span className="mut">{told.more}</span> : null}
      </span>
    </p>
  )
}

const NAMED = 5

/** Who has not published, by name where they are few. */
function missing(release: Release): string {
  const left = release.tasks.filter((each) => !isOut(release, each))
  return left.length > NAMED ? t('re.st.others') : left.map((each) => `“${each.service_name}”`).join(', ')
}

/** What is said, and in which tint. */
export function standing(release: Release): Told {
  const all = release.tasks.length
  const out = release.tasks.filter((each) => isOut(release, each)).length
  const names = culprits(release).map((name) => t('why.named', { name })).join(', ')
  switch (shownState(release)) {
    case 'waiting':
      return { tint: 'acc', bold: t('re.st.waiting') }
    case 'initializing':
      return { tint: 'acc', bold: t('re.st.initializing', { n: countOf(release, 'initialized'), of: all }), more: t('re.st.initializingMore') }
    case 'running':
      return { tint: 'acc', bold: t('re.st.running', { n: countOf(release, 'staged'), of: all }), more: t('re.st.runningMore') }
    case 'staged':
      return { tint: 'acc', bold: t('re.st.staged', { n: all }), more: t('re.st.stagedMore') }
    case 'publishing':
      return { tint: 'acc', bold: t('re.st.publishing', { n: out, of: all }), more: t('re.st.publishingMore') }
    case 'published':
      return { tint: 'ok', bold: t('re.st.published', { n: all, version: release.version }) }
    case 'partly_published':
      return { tint: 'warn', bold: t('re.st.partly', { n: out, of: all }), more: out === all ? t('re.st.allOutMore', { publish: t('re.publishEnd') }) : t('re.st.partlyMore', { names: missing(release) }) }
    case 'failed':
      return { tint: 'bad', bold: names ? t('re.st.failedBy', { names }) : t('re.st.failed'), more: t('re.st.failedMore') }
    case 'canceling':
      return { tint: 'idle', bold: t('re.st.canceling'), more: out > 0 ? t('re.st.partly', { n: out, of: all }) : t('re.st.cancelingMore') }
    default:
      return { tint: 'idle', bold: t('re.st.canceled'), more: t('re.st.canceledMore', { version: release.version }) }
  }
}
