import { type FormEvent, useState } from 'react'
import { ApiError, post } from '@/api/client'
import { cache, useWho } from '@/api/queries'
import { connect, useConnection } from '@/live/connection'
import { t } from '@/messages'
import { Button, Dialog, Field, TextInput } from '@/ui'

/** A dialog over the page when a sign-in is wanted: what is on the page stays. */
export function SignIn() {
  const wanted = useConnection((state) => state.wantsSignIn)
  const asked = useWho()
  const who = asked.data
  const ways = who?.sign_in ?? (asked.error instanceof ApiError ? asked.error.body.sign_in : undefined)
  const [token, setToken] = useState('')
  const [error, setError] = useState('')
  const [busy, setBusy] = useState(false)
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    setBusy(true)
    try {
      await post('/api/session', { token: token.trim() })
      setToken('')
      setError('')
      useConnection.setState({ wantsSignIn: false })
      connect()
      await cache.invalidateQueries()
    } catch (failed) {
      setError(failed instanceof ApiError && failed.status !== 401 ? failed.detail : t('signin.wrong'))
      useConnection.setState({ wantsSignIn: true })
    } finally {
      setBusy(false)
    }
  }
  const back = encodeURIComponent(location.pathname + location.search)
  return (
    <Dialog open={wanted} onClose={() => undefined} title={who ? t('signin.again') : t('signin.title')} detail={t('signin.detail')}>
      <form className="col gap-3" onSubmit={submit}>
        <Field label={t('signin.token')} error={error || undefined}>
          {(ids) => <TextInput {...ids} type="password" autoComplete="current-password" value={token} onChange={(event) => setToken(event.target.value)} />}
        </Field>
        <div className="flex justify-end gap-2">
          {Array.isArray(ways) && ways.includes('oidc') ? (
            <a className="btn" href={`/api/session/oidc?back_to=${back}`}>
              {t('signin.oidc')}
            </a>
          ) : null}
          <Button type="submit" kind="primary" busy={busy} disabled={!token.trim()}>
            {t('signin.do')}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
