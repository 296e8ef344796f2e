/** What can be done to a run, for the command bar. */
import { useMemo, useRef } from 'react'
import { useRights } from '@/api/rights'
import { type Command, useOffer } from '@/app/commands'
import { t } from '@/messages'
import type { Asks } from './header'

/** Offers as commands what the head of a run offers as buttons. */
export function useRunCommands(asks: Asks, ended: boolean, failed: boolean): void {
  const { operates } = useRights()
  const latest = useRef(asks)
  latest.current = asks
  const commands = useMemo<Command[]>(() => {
    const list: Command[] = [
      { id: 'run fire', label: t('rp.fire'), icon: 'token', enabled: !ended, run: () => latest.current.fire() },
      { id: 'run retry', label: t('rp.retry'), icon: 'again', enabled: failed, run: () => latest.current.retry() },
      { id: 'run rerun', label: t('rp.rerun'), icon: 'again', run: () => latest.current.rerun() },
      { id: 'run move', label: t('rp.moveButton'), icon: 'link', enabled: !ended, run: () => latest.current.move() },
      { id: 'run cancel', label: t('rp.cancelTitle'), icon: 'canceled', enabled: !ended, run: () => latest.current.cancel() },
    ]
    return operates ? list.map((command) => ({ ...command, group: t('rp.commands') })) : []
  }, [ended, failed, operates])
  useOffer('run', commands)
}
