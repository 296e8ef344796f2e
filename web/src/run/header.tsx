/** The head of a run: what it is about, where it stands, what can be done. */
import { Link } from '@tanstack/react-router'
import { at, post } from '@/api/client'
import { useRights } from '@/api/rights'
import type { Run } from '@/api/types'
import { LooksOn } from '@/app/may'
import { t } from '@/messages'
import { Button, Chip, Icon, Menu, MoreMenu, StatusChip, Time } from '@/ui'
import { copyText } from '@/ui/json'
import { useActing } from './acting'
import { type Said, stepsOf, titleOf } from './facts'
import { undoable } from './undo'
import { ENDED } from './why'

export interface Asks {
  fire: () => void
  cancel: () => void
  rerun: (from?: string) => void
  move: () => void
  retry: () => void
}

export function RunHead({ run, said, asks, children }: { run: Run; said: Said | undefined; asks: Asks; children?: React.ReactNode }) {
  const ended = ENDED.has(run.status)
  const may = useRights().operates
  const fail = () => undoable({ title: t('undo.fail', { n: 1 }), work: () => post(at`/api/runs/${run.id}/fail`), done: t('rp.failedNow'), keys: [['run', run.id], ['runs']] })
  return (
    <header className="runhead">
      <nav className="crumbs" aria-label={t('rp.path')}>
        <Link to="/app/runs">{t('nav.runs')}</Link>
        <span>/</span>
        <Link to="/app/workflows/$name" params={{ name: run.workflow }} className="ell">
          <bdi>{said?.title ?? run.workflow}</bdi>
        </Link>
        <span>/</span>
        <span className="mono">{run.id}</span>
        {children ? <span className="ms-auto">{children}</span> : null}
      </nav>
      <div className="row mt-1 flex-wrap gap-x-3 gap-y-1.5">
        <h1 className="ell min-w-0 max-w-full">
          <bdi>{run.subject ?? run.id}</bdi>
        </h1>
        <StatusChip status={run.status} />
        {run.ending && !ended ? <Chip>{t('rp.ending', { status: t(`run.${run.ending}`) })}</Chip> : null}
        <Chip>v{run.version}</Chip>
        <span className="t12 mut nw">
          {t('rp.started')} <Time at={run.started_at} as="time" />, <Time at={run.started_at} as="ago" />
        </span>
        <Relations run={run} />
        <div className="row ms-auto flex-wrap justify-end gap-x-3 gap-y-1.5 max-[719px]:ms-0 max-[719px]:justify-start">
          <LooksOn />
          {may ? <Acts run={run} said={said} asks={asks} /> : null}
          <span className="headmore">
            <MoreMenu
              items={[
                { id: 'link', label: t('rp.copyLink'), icon: 'link', run: () => void copyText(location.href) },
                { id: 'id', label: t('rp.copyId'), icon: 'copy', run: () => void copyText(run.id) },
                ...(ended || !may
                  ? []
                  : [
                      { id: 'move', label: t('rp.moveButton'), icon: 'link' as const, separated: true, run: asks.move },
                      { id: 'fail', label: t('rp.failNow'), icon: 'failed' as const, danger: true, run: fail },
                    ]),
              ]}
            />
          </span>
        </div>
      </div>
    </header>
  )
}

function Acts({ run, said, asks }: { run: Run; said: Said | undefined; asks: Asks }) {
  const ended = ENDED.has(run.status)
  const { busy, act } = useActing([['run', run.id], ['runs']])
  const pause = () => void act(() => post(at`/api/runs/${run.id}/pause`), t('rp.paused'))
  const resume = () => void act(() => post(at`/api/runs/${run.id}/resume`), t('rp.resumed'))
  return (
    <>
      {run.status === 'failed' ? (
        <Button kind="primary" icon="again" onClick={asks.retry}>
          {t('rp.retry')}
        </Button>
      ) : null}
      {ended ? null : run.status === 'paused' ? (
        <Button icon="play" busy={busy} onClick={resume}>
          {t('rp.resume')}
        </Button>
      ) : (
        <Button icon="paused" busy={busy} onClick={pause}>
          {t('rp.pause')}
        </Button>
      )}
      {ended ? null : (
        <Button icon="token" onClick={asks.fire}>
          {t('rp.fire')}
        </Button>
      )}
      <Menu
        trigger={
          <button type="button" className="btn">
            <Icon name="again" size="s" />
            {t('rp.rerunMenu')}
            <Icon name="down" size="xs" />
          </button>
        }
        items={[{ id: '', label: t('rp.fromStart'), run: () => asks.rerun() }, ...stepsOf(said).map((step, at) => ({ id: step, label: titleOf(said, step), separated: at === 0, run: () => asks.rerun(step) }))]}
      />
      {ended ? null : (
        <Button kind="danger" icon="canceled" onClick={asks.cancel}>
          {t('act.cancel')}
        </Button>
      )}
    </>
  )
}

function Relations({ run }: { run: Run }) {
  return (
    <>
      {run.parent ? (
        <Link className="t12" to="/app/runs/$id" params={{ id: run.parent }}>
          {t('rp.parent')}
        </Link>
      ) : null}
      {run.rerun_of ? (
        <Link className="t12" to="/app/runs/$id" params={{ id: run.rerun_of }}>
          {t('rp.rerunOf')}
        </Link>
      ) : null}
      {Object.entries(run.labels).map(([name, value]) => (
        <Link key={name} to="/app/runs" search={{ label: `${name}=${value}` }} className="tag">
          <bdi>
            {name}={value}
          </bdi>
        </Link>
      ))}
    </>
  )
}
