/** The inbox of people: what is asked, a form where one is wanted, and two large buttons. */
import { Link, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { ApiError, at, byField, post } from '@/api/client'
import { type Approval, useApprovals } from '@/api/operations'
import { useWho } from '@/api/queries'
import { PageHead } from '@/app/heading'
import { isMessage, t } from '@/messages'
import { Button, EmptyState, Field, Icon, Segments, StatusChip, TextArea, Time, durationText, useNow } from '@/ui'
import { LoadedOrAbsent } from '@/ui/absent'
import { letGo, useKept } from '@/ui/kept'
import { SchemaForm, begun, filledIn, lacking, lackingSaid } from '@/ui/schema-form'
import { toast } from '@/ui/toasts'
import { sentence, useActing } from '@/run/acting'
import { useTitles } from './titles'

type Which = 'mine' | 'team' | 'done'

const mine = (each: Approval) => each.may_decide

export default function ApprovalsPage() {
  const { id } = useSearch({ strict: false }) as { id?: string }
  const [which, setWhich] = useState<Which>('mine')
  const open = useApprovals('open')
  const decided = useApprovals('all', which === 'done')
  const items = open.data?.items ?? []
  const count = items.filter(mine).length
  return (
    <>
      <PageHead title={t('nav.approvals')} />
      <div className="wide border-b border-line px-6 py-2.5 max-[719px]:px-4">
        <div className="max-w-[560px]">
          <Segments
            label={t('op.which')}
            value={which}
            choices={[
              { value: 'mine', label: t('op.forMe', { n: count }) },
              { value: 'team', label: t('op.team', { n: items.length }) },
              { value: 'done', label: t('op.done') },
            ]}
            onChange={setWhich}
          />
        </div>
      </div>
      <div className="page bg-bg">
        <LoadedOrAbsent query={which === 'done' ? decided : open}>
          {(page) => {
            const shown = which === 'mine' ? page.items.filter(mine) : which === 'done' ? page.items.filter((each) => each.status !== 'open') : page.items
            if (shown.length === 0) return <EmptyState icon="inbox" title={which === 'done' ? t('op.noDecided') : t('op.noApproval')} detail={which === 'done' ? undefined : t('op.noApprovalDetail')} />
            return which === 'done' ? <Decided items={shown} /> : <Inbox items={shown} first={id} />
          }}
        </LoadedOrAbsent>
      </div>
    </>
  )
}

const question = (each: Approval): string => each.text ?? each.step

/** One request is open, and stays so until it is decided or another is chosen, whatever comes in above it. */
function Inbox({ items, first }: { items: Approval[]; first?: string }) {
  const [chosen, setChosen] = useState<string | null>(first ?? null)
  const [held, setHeld] = useState<string | null>(null)
  const title = useTitles()
  const now = useNow(1000)
  const current = items.find((each) => each.id === chosen) ?? items.find((each) => each.id === held) ?? items[0]
  if (current && current.id !== held) setHeld(current.id)
  return (
    <div className="max-w-[720px]">
      {items.map((each) =>
        each.id === current?.id ? (
          <Ask key={each.id} approval={each} title={title(each.workflow)} reveal={each.id === first} />
        ) : (
          <button key={each.id} type="button" className="arow" onClick={() => setChosen(each.id)}>
            <span className="row">
              <b className="grow ell">
                <bdi>{question(each)}</bdi>
              </b>
              <span className="cap nw">{durationText(now - new Date(each.opened_at).getTime())}</span>
            </span>
            <span className="t12 mut block">
              <bdi>
                {title(each.workflow)}, {each.subject ?? each.run}
              </bdi>
            </span>
          </button>
        ),
      )}
    </div>
  )
}

const toView = (shown: HTMLElement | null) => shown?.scrollIntoView({ block: 'nearest' })

function Ask({ approval, title, reveal }: { approval: Approval; title: string; reveal: boolean }) {
  const now = useNow(1000)
  const who = useWho().data
  const entries = `approval ${approval.id}`
  const [{ fields, comment }, setFilled] = useKept(entries, () => ({ fields: begun(approval.fields), comment: '' }))
  const [wrong, setWrong] = useState<Record<string, string>>({})
  const { busy, error, act } = useActing([['approvals'], ['runs'], ['incidents']], true)
  const missing = lacking(approval.fields, fields)
  const approve = () => (missing.length > 0 ? setWrong(lackingSaid(approval.fields, fields)) : decide('approved'))
  const decide = (decision: 'approved' | 'rejected') =>
    void act(
      async () => {
        try {
          await post(at`/api/approvals/${approval.id}`, { decision, ...(missing.length > 0 ? {} : { fields: filledIn(approval.fields, fields) }), ...(comment.trim() ? { comment: comment.trim() } : {}) })
          letGo(entries)
        } catch (failed) {
          if (failed instanceof ApiError && failed.status === 409) toast({ kind: 'warn', title: t('op.decidedBefore'), detail: sentence(failed) })
          if (failed instanceof ApiError) setWrong(byField(failed.errors, 'fields'))
          throw failed
        }
      },
      decision === 'approved' ? t('op.approvedNow') : t('op.rejectedNow'),
    )
  return (
    <article className="appr" ref={reveal ? toView : undefined}>
      <div className="row items-start">
        <div className="grow">
          <h2>
            <bdi>{question(approval)}</bdi>
          </h2>
          <div className="t12 mut mt-0.5">
            <bdi>{title}</bdi>,{' '}
            <Link to="/app/runs/$id" params={{ id: approval.run }}>
              <bdi>{approval.subject ?? approval.run}</bdi>
            </Link>
          </div>
        </div>
        <span className="st warn">
          <Icon name="waiting" />
          {durationText(now - new Date(approval.opened_at).getTime())}
        </span>
      </div>
      <div className="card mt-3 px-3 py-0.5">
        <div className="cardrow">
          <span className="mut">{t('rp.step')}</span>
          <bdi>{approval.step}</bdi>
        </div>
        <div className="cardrow">
          <span className="mut">{t('op.decides')}</span>
          <span>{isMessage(`role.${approval.role}`) ? t(`role.${approval.role}` as 'role.admin') : approval.role}</span>
        </div>
        {approval.due_at ? (
          <div className="cardrow">
            <span className="mut">{t('op.due')}</span>
            <Time at={approval.due_at} />
          </div>
        ) : null}
      </div>
      {approval.fields ? (
        <div className="mt-3">
          <SchemaForm
            large
            schema={approval.fields}
            value={fields}
            errors={wrong}
            onChange={(next) => {
              setFilled({ fields: next, comment })
              setWrong({})
            }}
          />
        </div>
      ) : null}
      <div className="mt-3">
        <Field label={t('op.remark')} aside={t('op.kept')}>
          {(ids) => <TextArea {...ids} rows={2} value={comment} onChange={(event) => setFilled({ fields, comment: event.target.value })} />}
        </Field>
      </div>
      {error ? (
        <div className="bad t12 mt-2" role="alert">
          {error}
        </div>
      ) : null}
      {!approval.may_decide ? <div className="mut t12 mt-2">{t('op.notYours', { name: who?.name ?? '' })}</div> : null}
      <div className="acts">
        <Button kind="danger" icon="cross" busy={busy} disabled={!approval.may_decide} onClick={() => decide('rejected')}>
          {t('op.reject')}
        </Button>
        <Button kind="primary" icon="check" busy={busy} disabled={!approval.may_decide} onClick={approve}>
          {t('op.approve')}
        </Button>
      </div>
    </article>
  )
}

function Decided({ items }: { items: Approval[] }) {
  const title = useTitles()
  return (
    <ul className="max-w-[720px]">
      {items.map((each) => (
        <li key={each.id} className="lrow bg-surface">
          <b className="ell">
            <bdi>{question(each)}</bdi>
          </b>
          <StatusChip status={each.status === 'approved' ? 'succeeded' : each.status === 'rejected' ? 'failed' : 'canceled'} text={t(`op.s.${each.status}`)} />
          <span className="mut ell">
            <bdi>
              {title(each.workflow)}, {each.subject ?? each.run}
              {each.decision?.by ? `, ${each.decision.by}` : ''}
              {each.decision?.comment ? `: ${each.decision.comment}` : ''}
            </bdi>
          </span>
          <span className="cap">{each.ended_at ? <Time at={each.ended_at} as="ago" /> : null}</span>
        </li>
      ))}
    </ul>
  )
}
