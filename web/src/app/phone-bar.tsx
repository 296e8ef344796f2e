/** The pages on a phone: what is wanted there most stands below, the rest opens from there. */
import { useNavigate } from '@tanstack/react-router'
import { t } from '@/messages'
import { Icon, Menu } from '@/ui'
import { openCommands } from './commands'
import { MAIN, NavLink, OPERATE, useIsAt } from './nav'
import { useOwnItems } from './own'

const BELOW = new Set(['/', '/app/runs', '/app/approvals', '/app/incidents'])
const PHONE = MAIN.filter((entry) => BELOW.has(entry.to))
const REST = [...MAIN.filter((entry) => !BELOW.has(entry.to)), ...OPERATE]

export function PhoneBar() {
  const navigate = useNavigate()
  const own = useOwnItems()
  const items = [
    { id: 'search', label: t('nav.search'), icon: 'search' as const, run: openCommands },
    ...REST.map((entry, at) => ({ id: entry.to, label: t(entry.text), icon: entry.icon, separated: at === 0, run: () => void navigate({ to: entry.to }) })),
    ...own,
  ]
  return (
    <nav className="bar" aria-label={t('nav.main')}>
      {PHONE.map((entry) => (
        <NavLink key={entry.to} entry={entry} />
      ))}
      <Menu
        items={items}
        trigger={
          <button type="button" className={useIsAt(REST) ? 'on' : ''}>
            <Icon name="more" />
            <span className="lbl">{t('act.more')}</span>
          </button>
        }
      />
    </nav>
  )
}
