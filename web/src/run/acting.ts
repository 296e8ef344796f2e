/** Acting on the server from a page: done at once, told in a toast, and what is shown is asked for anew. */
import { useState } from 'react'
import { ApiError } from '@/api/client'
import { cache } from '@/api/queries'
import { isMessage, t } from '@/messages'
import { toast } from '@/ui/toasts'

/** What to say of a failure: the server's own sentence. */
export function sentence(error: unknown): string {
  const large = error instanceof ApiError && error.status === 413 ? /(\d+) bytes\D+(\d+) at most/.exec(error.detail) : null
  if (large) return t('error.tooLarge', { size: Math.ceil(Number(large[1]) / 1024), most: Math.floor(Number(large[2]) / 1024) })
  const ended = error instanceof ApiError ? /^run '[^']*' has ended as (\w+)/.exec(error.detail)?.[1] : undefined
  if (ended && isMessage(`run.${ended}`)) return t('error.runEnded', { status: ended })
  if (error instanceof ApiError) return error.errors[0] ? error.errors.map((each) => (each.path ? `${each.path}: ${each.message}` : each.message)).join('\n') : error.detail
  return error instanceof Error ? error.message : String(error)
}

export interface Acting {
  busy: boolean
  error: string | null
  clear: () => void
  /** True where it was done. */
  act: (work: () => Promise<unknown>, done?: string) => Promise<boolean>
}

/** `keys`: what is asked for anew. With `quiet` the caller shows the error itself. */
export function useActing(keys: readonly (readonly unknown[])[] = [], quiet = false): Acting {
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<string | null>(null)
  const act = async (work: () => Promise<unknown>, done?: string) => {
    setBusy(true)
    setError(null)
    try {
      await work()
      if (done) toast({ kind: 'ok', title: done })
      return true
    } catch (failed) {
      const said = sentence(failed)
      setError(said)
      if (!quiet) toast({ kind: 'bad', title: t('rp.notDone'), detail: said, lasts: 10_000 })
      return false
    } finally {
      setBusy(false)
      for (const queryKey of keys) void cache.invalidateQueries({ queryKey })
    }
  }
  return { busy, error, clear: () => setError(null), act }
}
