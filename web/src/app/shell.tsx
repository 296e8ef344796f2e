import { Outlet, useRouterState } from '@tanstack/react-router'
import { Suspense, useEffect, useState } from 'react'
import { useApprovals, useIncidents } from '@/api/operations'
import { useWho, useWorkers, useWorkflows } from '@/api/queries'
import { useRights } from '@/api/rights'
import { causesOf } from '@/operate/causes'
import { connect, useConnection } from '@/live/connection'
import { t } from '@/messages'
import { Icon, Logo, Menu, Skeleton, TooltipProvider, agoText, useNow } from '@/ui'
import { Toasts, dismiss, toast } from '@/ui/toasts'
import { useLater } from '@/ui/later'
import { openCommands } from './commands'
import { MAIN, NavLink, OPERATE } from './nav'
import { useOwnItems } from './own'
import { PhoneBar } from './phone-bar'
import { SignIn } from './sign-in'
import { CommandBar } from './slots'
import { useKeys } from './keys'
import { isEditor } from './where'

const COMMAND_KEYS = { 'Ctrl+K': openCommands }

/** What is around every page: messages, the sign-in that is wanted, the command bar. */
export function Frame() {
  useKeys(COMMAND_KEYS)
  useEffect(connect, [])
  useAwayToast()
  return (
    <TooltipProvider delayDuration={400}>
      <Outlet />
      <Toasts />
      <SignIn />
      <CommandBar />
    </TooltipProvider>
  )
}

/** How many there are of what the sidebar leads to. */
function useCounts(): Record<string, number | undefined> {
  const later = useLater()
  const approvals = useApprovals('open', later).data?.items.filter((each) => each.may_decide).length
  const incidents = useIncidents({}, later).data
  const causes = incidents ? causesOf(incidents.items).length : undefined
  return { '/app/workflows': useWorkflows().data?.items.length, '/app/approvals': approvals, '/app/incidents': causes }
}

/** The sidebar and the page beside it. */
export function Shell() {
  const counts = useCounts()
  return (
    <div className="app">
      <a className="skip btn" href="#content">
        {t('nav.skip')}
      </a>
      <header className="side">
        <div className="brand">
          <Logo />
          <b>Penstock</b>
        </div>
        <button type="button" className="f mx-1 mb-2.5" onClick={openCommands} title={t('nav.search')}>
          <Icon name="search" size="s" />
          <span className="fnt grow text-start">{t('nav.search')}</span>
          <span className="kbd">Ctrl K</span>
        </button>
        <nav className="nav" aria-label={t('nav.main')}>
          {MAIN.map((entry) => (
            <NavLink key={entry.to} entry={entry} count={counts[entry.to]} />
          ))}
          <div className="cap">{t('nav.operate')}</div>
          {OPERATE.map((entry) => (
            <NavLink key={entry.to} entry={entry} />
          ))}
        </nav>
        <span className="grow" />
        <Foot />
      </header>
      <main className="main" id="content" tabIndex={-1}>
        <Suspense fallback={<Skeleton />}>
          <Outlet />
        </Suspense>
      </main>
      <PhoneBar />
    </div>
  )
}

function Foot() {
  const who = useWho().data
  const workers = useWorkers(useRights().looksEverywhere).data
  const { state, since } = useConnection()
  const now = useNow(5_000)
  const live = workers ? t('shell.liveWorkers', { n: workers.items.length }) : t('shell.live')
  const items = useOwnItems()
  return (
    <div className="col gap-1 px-2 text-12">
      <div className="row mut h-6" role="status">
        <span className={`livedot ${state === 'live' ? '' : 'off'}`} aria-hidden="true" />
        <span className="lbl">{state === 'away' ? t('shell.awaySince', { time: agoText(since, now) }) : live}</span>
      </div>
      <Menu
        align="start"
        items={items}
        trigger={
          <button type="button" className="row mut h-6 cursor-pointer" aria-label={t('shell.user', { name: who?.name ?? '' })}>
            <Icon name="person" size="s" />
            <span className="lbl">{who ? <bdi>{who.name}</bdi> : ''}</span>
          </button>
        }
      />
    </div>
  )
}

/** Says that the server is away once it has been for two seconds, and that it is back. */
function useAwayToast() {
  const state = useConnection((each) => each.state)
  const nextTry = useConnection((each) => each.nextTry)
  const editing = useRouterState({ select: (each) => isEditor(each.location.pathname) })
  const [told, setTold] = useState(false)
  useEffect(() => {
    if (state !== 'away') return
    const timer = setTimeout(() => setTold(true), 2_000)
    return () => clearTimeout(timer)
  }, [state])
  useEffect(() => {
    if (!told) return
    if (state === 'away') {
      toast({ id: 'away', kind: 'warn', title: t('shell.away'), detail: t(editing ? 'shell.awayDetail' : 'shell.awayOn', { seconds: nextTry }), lasts: 0, action: { label: t('shell.tryNow'), run: connect } })
    } else {
      dismiss('away')
      setTold(false)
    }
  }, [told, state, nextTry, editing])
}

