import { useParams } from '@tanstack/react-router'
import { useRelease } from '@/api/releases'
import { PageBody } from '@/app/heading'
import { Missing } from '@/app/missing'
import { t, want } from '@/messages'
import { Aside } from '@/releases/aside'
import { Events } from '@/releases/events'
import { ReleaseHead } from '@/releases/head'
import { PhaseLine } from '@/releases/phase-line'
import { Standing } from '@/releases/standing'
import { Tasks } from '@/releases/tasks'
import { Loaded } from '@/ui'

want('pages')
want('releases')

export default function ReleasePage() {
  const { id } = useParams({ strict: false }) as { id: string }
  return (
    <Loaded query={useRelease(id)} missing={<Missing title={t('re.missing', { id })} detail={t('re.missingDetail')} to="/app/releases" back={t('re.showAll')} />}>
      {(release) => (
        <>
          <ReleaseHead release={release} />
          <PageBody label={release.name}>
            <PhaseLine release={release} />
            <Standing release={release} />
            <Tasks release={release} />
            <div className="rbelow">
              <Events release={release} />
              <Aside release={release} />
            </div>
          </PageBody>
        </>
      )}
    </Loaded>
  )
}
