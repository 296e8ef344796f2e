/** The head of a release: what it is, where it stands, what can be done, by the rules of the coordinator. */
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { ApiError, at, del, post } from '@/api/client'
import { type Release, isPartly, mayCancel, mayPublish, shownState } from '@/api/releases'
import { useRights } from '@/api/rights'
import { LooksOn } from '@/app/may'
import { useTitle } from '@/app/heading'
import { t } from '@/messages'
import { useActing } from '@/run/acting'
import { undoable } from '@/run/undo'
import { Button, Chip, Dialog, StatusChip, Time } from '@/ui'
import { toast } from '@/ui/toasts'
import { isOut } from './phases'

export function ReleaseHead({ release }: { release: Release }) {
  useTitle(release.name)
  return (
    <header className="runhead">
      <nav className="crumbs" aria-label={t('rp.path')}>
        <Link to="/app/releases">{t('nav.releases')}</Link>
        <span>/</span>
        <span className="mono">{release.kf_id}</span>
      </nav>
      <div className="row mt-1 flex-wrap gap-x-3 gap-y-1.5">
        <h1 className="ell min-w-0 max-w-full">
          <bdi>{release.name}</bdi>
        </h1>
        <StatusChip of="release" status={shownState(release)} />
        <Chip>{release.version}</Chip>
        <span className="t12 mut nw">
          {t('re.by', { name: release.author })}, <Time at={release.created_at} as="ago" />
        </span>
        <span className="grow" />
        {useRights().operates ? <Actions release={release} /> : <LooksOn text="re.looksOn" />}
      </div>
    </header>
  )
}

function Actions({ release }: { release: Release }) {
  const navigate = useNavigate()
  const [sure, setSure] = useState(false)
  const { busy, act } = useActing([['release', release.kf_id], ['releases']])
  const [gone, setGone] = useState<string | null>(null)
  const again = async (body: { services?: null } = {}) => {
    const made = await post<Release>(at`/releases/${release.kf_id}/rerun`, body)
    toast({ kind: 'ok', title: t('re.begun') })
    await navigate({ to: '/app/releases/$id', params: { id: made.kf_id } })
  }
  const same = () =>
    void act(() =>
      again().catch((failed: unknown) => {
        if (!(failed instanceof ApiError) || failed.status !== 409) throw failed
        setGone(failed.detail)
      }),
    )
  const withAll = () => {
    setGone(null)
    void act(() => again({ services: null }))
  }
  const publish = () => void act(() => post(at`/releases/${release.kf_id}/publish`))
  const cancel = () => {
    undoable({ title: t('undo.cancel', { name: release.name }), work: () => del(at`/releases/${release.kf_id}`), done: t('re.cancelAsked'), keys: [['release', release.kf_id], ['releases']] })
    setSure(false)
  }
  const over = isPartly(release) && release.tasks.every((each) => isOut(release, each))
  const word = over ? t('re.publishEnd') : isPartly(release) ? t('re.publishRest') : release.next_version ? t('re.publishAs', { version: release.next_version }) : t('re.publish')
  return (
    <>
      <Button icon="again" busy={busy} onClick={same}>
        {t('re.again')}
      </Button>
      <Button kind="danger" icon="canceled" disabled={busy || !mayCancel(release)} title={mayCancel(release) ? undefined : t('re.noCancel')} onClick={() => setSure(true)}>
        {t('re.cancel')}
      </Button>
      <Button kind="primary" disabled={busy || !mayPublish(release)} title={mayPublish(release) ? undefined : t('re.noPublish')} onClick={publish}>
        {word}
      </Button>
      <Dialog
        open={gone !== null}
        onClose={() => setGone(null)}
        title={t('re.againGone')}
        detail={gone ?? ''}
        actions={
          <>
            <Button onClick={() => setGone(null)}>{t('act.leave')}</Button>
            <Button kind="primary" onClick={withAll}>
              {t('re.againAll')}
            </Button>
          </>
        }
      />
      <Dialog
        open={sure}
        onClose={() => setSure(false)}
        title={t('re.cancelSure')}
        detail={t('re.ifCanceledText', { n: release.tasks.length, version: release.version })}
        actions={
          <>
            <Button onClick={() => setSure(false)}>{t('act.leave')}</Button>
            <Button kind="danger" onClick={cancel}>
              {t('re.cancel')}
            </Button>
          </>
        }
      />
    </>
  )
}
