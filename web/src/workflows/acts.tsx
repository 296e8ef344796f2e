/** Start, stop, pause, resume: what can be done to a workflow. */
import { at, post } from '@/api/client'
import { May } from '@/app/may'
import { t } from '@/messages'
import { Button } from '@/ui'
import { useActing } from '@/run/acting'

export function LifeButtons({ name, started, paused }: { name: string; started: boolean; paused: boolean }) {
  const { busy, act } = useActing([['workflows'], ['workflow', name]])
  const go = (what: 'start' | 'stop' | 'pause' | 'resume') => void act(() => post(`${at`/api/workflows/${name}`}/${what}`), t(`wf.did.${what}`))
  return (
    <>
      <May what="authors">
        <Button icon={started ? 'stop' : 'play'} busy={busy} onClick={() => go(started ? 'stop' : 'start')} title={started ? t('wf.stopAbout') : t('wf.startAbout')}>
          {started ? t('wf.stop') : t('wf.start')}
        </Button>
      </May>
      <May what="operates">
        <Button icon={paused ? 'play' : 'paused'} busy={busy} onClick={() => go(paused ? 'resume' : 'pause')} title={paused ? t('wf.resumeAbout') : t('wf.pauseAbout')}>
          {paused ? t('rp.resume') : t('rp.pause')}
        </Button>
      </May>
    </>
  )
}
