/** The pages that there are, and the way to them. */
import { Link, useRouterState } from '@tanstack/react-router'
import { type MessageKey, t } from '@/messages'
import { Icon, type IconName } from '@/ui'

export interface Entry {
  to: string
  icon: IconName
  text: MessageKey
  /** By which else it is found. */
  words?: MessageKey
}

export const MAIN: Entry[] = [
  { to: '/', icon: 'home', text: 'nav.home' },
  { to: '/app/workflows', icon: 'flow', text: 'nav.workflows' },
  { to: '/app/runs', icon: 'runs', text: 'nav.runs' },
  { to: '/app/approvals', icon: 'inbox', text: 'nav.approvals' },
  { to: '/app/incidents', icon: 'incident', text: 'nav.incidents' },
  { to: '/app/releases', icon: 'box', text: 'nav.releases' },
]
export const OPERATE: Entry[] = [
  { to: '/app/queues', icon: 'queue', text: 'nav.queues' },
  { to: '/app/schedules', icon: 'calendar', text: 'nav.schedules' },
  { to: '/app/stores', icon: 'store', text: 'nav.stores' },
  { to: '/app/access', icon: 'token', text: 'nav.tokens', words: 'commands.accessWords' },
  { to: '/app/audit', icon: 'paper', text: 'nav.audit' },
  { to: '/app/settings', icon: 'gear', text: 'nav.settings' },
]

const leadsTo = (entry: Entry, path: string): boolean => (entry.to === '/' ? path === '/' : path === entry.to || path.startsWith(`${entry.to}/`))

/** Whether one of these is the page that is shown. */
export function useIsAt(entries: readonly Entry[]): boolean {
  return useRouterState({ select: (state) => entries.some((entry) => leadsTo(entry, state.location.pathname)) })
}

export function NavLink({ entry, count }: { entry: Entry; count?: number }) {
  const on = useIsAt([entry])
  return (
    <Link to={entry.to} className={on ? 'on' : ''} aria-current={on ? 'page' : undefined} title={t(entry.text)}>
      <Icon name={entry.icon} />
      <span className="lbl">{t(entry.text)}</span>
      {count ? <i>{count}</i> : null}
    </Link>
  )
}
