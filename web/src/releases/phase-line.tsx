/** The phases of a release as a line: what is done, where it stands, the gate, what is to come. */
import type { Release } from '@/api/releases'
import { t } from '@/messages'
import { Duration, Icon, type IconName, Time } from '@/ui'
import { type Phase, type PhaseState, phasesOf } from './phases'

const ICONS: Partial<Record<PhaseState, { icon: IconName; tint: string }>> = {
  done: { icon: 'done', tint: 'ok' },
  failed: { icon: 'failed', tint: 'bad' },
  canceled: { icon: 'canceled', tint: 'idle' },
  coming: { icon: 'blocked', tint: 'fnt' },
}

export function PhaseLine({ release }: { release: Release }) {
  return (
    <ol className="phases" aria-label={t('re.phases')}>
      {phasesOf(release).map((phase) => (
        <li key={phase.id} className={`ph ${phase.state}`} aria-current={phase.state === 'now' ? 'step' : undefined}>
          {phase.id === 'publish' ? <Gate open={phase.state !== 'coming'} /> : null}
          <Mark phase={phase} />
          <span className="phname">{t(`re.phase.${phase.id}`)}</span>
          <span className="sr">, {t(`re.phaseState.${phase.state}`)}</span>
          <span className="cap">
            <Said release={release} phase={phase} />
          </span>
        </li>
      ))}
    </ol>
  )
}

function Mark({ phase }: { phase: Phase }) {
  const look = ICONS[phase.state]
  if (!look) return <span className="phmark here" aria-hidden="true" />
  return (
    <span className={`phmark ${look.tint}`}>
      <Icon name={look.icon} />
    </span>
  )
}

/** Between staging and publishing: it is shut until somebody publishes. */
function Gate({ open }: { open: boolean }) {
  return (
    <span className="phgate">
      <svg width="20" height="20" viewBox="0 0 20 20" fill="none" stroke="currentColor" strokeWidth="1.5" aria-hidden="true" focusable="false">
        <path d="M1 0v20M19 0v20M0 1h20" strokeLinecap="round" />
        <rect x="4" y={open ? 2 : 6} width="12" height={open ? 4 : 12} rx="1" fill="currentColor" stroke="none" />
      </svg>
      <span className="cap">{open ? t('re.gateOpen') : t('re.gate')}</span>
    </span>
  )
}

const iso = (moment: number) => new Date(moment).toISOString()

function Said({ release, phase }: { release: Release; phase: Phase }) {
  if (phase.id === 'published' && phase.state === 'done' && phase.from !== null) return <><Time at={iso(phase.from)} as="minute" dated />, {release.version}</>
  if (phase.id === 'published') return release.next_version ? t('re.becomes', { version: release.version, next: release.next_version }) : null
  if (phase.id === 'publish' && phase.state === 'coming' && release.state === 'staged') return t('re.waitsForYou')
  if (phase.from === null) return null
  if (phase.state === 'now' || phase.to === null) return <>{t('re.since')} <Time at={iso(phase.from)} as="minute" dated /></>
  return (
    <>
      <Time at={iso(phase.from)} as="minute" dated />, <Duration from={iso(phase.from)} to={iso(phase.to)} />
    </>
  )
}
