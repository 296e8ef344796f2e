/** Tokens and secrets: what was made is shown once, what was written is never read back. */
import { type FormEvent, useState } from 'react'
import { at, del, post, put } from '@/api/client'
import { useAccess, useSecrets } from '@/api/operations'
import type { TokenView } from '@/api/types'
import { PageBody, PageHead } from '@/app/heading'
import { May } from '@/app/may'
import { t } from '@/messages'
import { Button, Dialog, EmptyState, Field, Select, StatusChip, Table, TextInput, Time } from '@/ui'
import { LoadedOrAbsent } from '@/ui/absent'
import { CopyButton } from '@/ui/json'
import { useActing } from '@/run/acting'
import { Refused } from '@/run/dialogs'

const ROLES = ['viewer', 'operator', 'author', 'admin', 'worker'] as const
type Role = (typeof ROLES)[number]

export default function AccessPage() {
  const [making, setMaking] = useState(false)
  const [writing, setWriting] = useState(false)
  const [gone, setGone] = useState<{ kind: 'token' | 'secret'; id: string; name: string } | null>(null)
  const { busy, act } = useActing([['access'], ['secrets']])
  const remove = () => gone && void act(() => (gone.kind === 'token' ? del(at`/api/access/${gone.id}`) : del(at`/api/secrets/${gone.id}`)), gone.kind === 'token' ? t('op.revoked') : t('op.dropped')).then(() => setGone(null))
  return (
    <>
      <PageHead title={t('nav.tokens')} about={t('op.accessAbout')}>
        <May what="administers">
          <Button onClick={() => setWriting(true)}>{t('op.newSecret')}</Button>
          <Button kind="primary" icon="plus" onClick={() => setMaking(true)}>
            {t('op.newToken')}
          </Button>
        </May>
      </PageHead>
      <PageBody label={t('nav.tokens')}>
        <div className="sect">
          <h2>{t('op.tokens')}</h2>
          <span className="cap">{t('op.rolesAbout')}</span>
        </div>
        <LoadedOrAbsent query={useAccess()}>
          {(page) =>
            page.items.length === 0 ? (
              <EmptyState icon="token" title={t('op.noToken')} detail={t('op.noTokenDetail')} />
            ) : (
              <Table
                tall
                label={t('op.tokens')}
                rows={page.items}
                rowKey={(each) => each.id}
                columns={[
                  { id: 'name', head: t('op.name'), cell: (each) => <b>{each.name}</b> },
                  { id: 'role', head: t('op.role'), cell: (each) => t(`role.${each.role as Role}`) },
                  { id: 'bound', head: t('op.boundTo'), cell: (each) => <code>{[...(each.workflows ?? []), ...(each.task_lists ?? [])].join(', ') || '–'}</code> },
                  { id: 'state', head: t('ru.status'), cell: (each) => <StatusChip status={each.state === 'live' ? 'succeeded' : 'canceled'} text={t(`op.token.${each.state as 'live' | 'expired' | 'revoked'}`)} /> },
                  { id: 'expires', head: t('op.expires'), cell: (each) => (each.expires_at ? <Time at={each.expires_at} as="date" /> : t('op.never')) },
                  { id: 'used', head: t('op.used'), cell: (each) => (each.used_at ? <Time at={each.used_at} as="ago" /> : t('op.never')) },
                  { id: 'by', head: t('op.madeBy'), cell: (each) => <bdi>{each.made_by}</bdi> },
                  { id: 'do', head: '', right: true, cell: (each) => (isLive(each) ? <Button size="s" kind="danger" onClick={() => setGone({ kind: 'token', id: each.id, name: each.name })}>{t('op.revoke')}</Button> : null) },
                ]}
              />
            )
          }
        </LoadedOrAbsent>
        <div className="sect">
          <h2>{t('op.secrets')}</h2>
          <span className="cap">{t('op.secretsAbout')}</span>
        </div>
        <LoadedOrAbsent query={useSecrets()}>
          {(page) =>
            page.items.length === 0 ? (
              <EmptyState title={t('op.noSecret')} />
            ) : (
              <Table
                label={t('op.secrets')}
                rows={page.items}
                rowKey={(each) => each.name}
                columns={[
                  { id: 'name', head: t('op.name'), cell: (each) => <code>{each.name}</code> },
                  { id: 'version', head: t('rp.version'), right: true, cell: (each) => each.version },
                  { id: 'at', head: t('op.written'), cell: (each) => <Time at={each.updated_at} as="ago" /> },
                  { id: 'do', head: '', right: true, cell: (each) => <Button size="s" kind="danger" onClick={() => setGone({ kind: 'secret', id: each.name, name: each.name })}>{t('act.remove')}</Button> },
                ]}
              />
            )
          }
        </LoadedOrAbsent>
      </PageBody>
      {making ? <MakeToken onClose={() => setMaking(false)} /> : null}
      {writing ? <WriteSecret onClose={() => setWriting(false)} /> : null}
      {gone ? (
        <Dialog
          open
          onClose={() => setGone(null)}
          title={gone.kind === 'token' ? t('op.revokeSure', { name: gone.name }) : t('op.dropSure', { name: gone.name })}
          detail={gone.kind === 'token' ? t('op.revokeDetail') : t('op.dropDetail')}
          actions={
            <>
              <Button onClick={() => setGone(null)}>{t('act.leave')}</Button>
              <Button kind="danger" busy={busy} onClick={remove}>
                {gone.kind === 'token' ? t('op.revoke') : t('act.remove')}
              </Button>
            </>
          }
        />
      ) : null}
    </>
  )
}

const isLive = (token: TokenView) => token.revoked_at === null && (token.expires_at === null || new Date(token.expires_at) > new Date())
const names = (text: string) => text.split(',').map((each) => each.trim()).filter(Boolean)

function MakeToken({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState('')
  const [role, setRole] = useState<Role>('operator')
  const [days, setDays] = useState('90')
  const [bound, setBound] = useState('')
  const [made, setMade] = useState<string | null>(null)
  const { busy, error, act } = useActing([['access']], true)
  const make = (event: FormEvent) => {
    event.preventDefault()
    void act(async () => {
      const answer = await post<{ token: string }>('/api/access', { name, role, expires_in: days === 'never' ? 'never' : Number(days), ...(names(bound).length > 0 ? (role === 'worker' ? { task_lists: names(bound) } : { workflows: names(bound) }) : {}) })
      setMade(answer.token)
    })
  }
  if (made !== null) {
    return (
      <Dialog open onClose={onClose} title={t('op.tokenMade')} detail={t('op.tokenOnce')} actions={<Button kind="primary" onClick={onClose}>{t('act.close')}</Button>}>
        <div className="row">
          <code className="json grow">{made}</code>
          <CopyButton text={() => made} />
        </div>
      </Dialog>
    )
  }
  return (
    <Dialog open onClose={onClose} title={t('op.newToken')}>
      <form className="col gap-3" onSubmit={make}>
        <Field label={t('op.name')} hint={t('op.nameHint')}>
          {(ids) => <TextInput {...ids} value={name} onChange={(event) => setName(event.target.value)} />}
        </Field>
        <Field label={t('op.role')} hint={t(`op.roleAbout.${role}`)}>
          {(ids) => <Select id={ids.id} label={t('op.role')} value={role} options={ROLES.map((each) => ({ value: each, label: t(`role.${each}`) }))} onChange={setRole} />}
        </Field>
        <Field label={t('op.expires')}>{(ids) => <Select id={ids.id} label={t('op.expires')} value={days} options={[...['7', '30', '90', '365'].map((each) => ({ value: each, label: t('op.days', { n: Number(each) }) })), { value: 'never', label: t('op.never') }]} onChange={setDays} />}</Field>
        <Field label={role === 'worker' ? t('op.boundLists') : t('op.boundWorkflows')} hint={t('op.boundHint')}>
          {(ids) => <TextInput {...ids} value={bound} onChange={(event) => setBound(event.target.value)} />}
        </Field>
        <Refused error={error} />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{t('act.leave')}</Button>
          <Button type="submit" kind="primary" busy={busy} disabled={!name.trim()}>
            {t('op.make')}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

function WriteSecret({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState('')
  const [value, setValue] = useState('')
  const { busy, error, act } = useActing([['secrets']], true)
  const write = (event: FormEvent) => {
    event.preventDefault()
    void act(() => put(at`/api/secrets/${name.trim()}`, { value }), t('op.secretWritten')).then((done) => done && onClose())
  }
  return (
    <Dialog open onClose={onClose} title={t('op.newSecret')} detail={t('op.secretsAbout')}>
      <form className="col gap-3" onSubmit={write}>
        <Field label={t('op.name')}>{(ids) => <TextInput {...ids} value={name} onChange={(event) => setName(event.target.value)} />}</Field>
        <Field label={t('op.value')}>{(ids) => <TextInput {...ids} type="password" autoComplete="new-password" value={value} onChange={(event) => setValue(event.target.value)} />}</Field>
        <Refused error={error} />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{t('act.leave')}</Button>
          <Button type="submit" kind="primary" busy={busy} disabled={!name.trim() || !value}>
            {t('op.write')}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
