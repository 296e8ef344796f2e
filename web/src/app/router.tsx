/** Which page is at which address. Pages are loaded when they are first opened. */
import { Link, createRootRoute, createRoute, createRouter } from '@tanstack/react-router'
import { t } from '@/messages'
import { EmptyState, ErrorPart } from '@/ui'
import { part } from './part'
import { Frame, Shell } from './shell'

const root = createRootRoute({ component: Frame, notFoundComponent: NotFound, errorComponent: Wrong })
const shell = createRoute({ getParentRoute: () => root, id: 'shell', component: Shell })

type Search = Record<string, unknown>
const anything = (search: Search): Search => search
// biome-ignore lint/suspicious/noExplicitAny: a page takes what its address gives it
type Load = () => Promise<any>

const page = <P extends string>(path: P, load: Load) =>
  createRoute({ getParentRoute: () => shell, path, component: part(load), validateSearch: anything })

const tree = root.addChildren([
  shell.addChildren([
    page('/', () => import('@/pages/home')),
    page('/app', () => import('@/pages/home')),
    page('/app/workflows', () => import('@/pages/workflows')),
    page('/app/workflows/$name', () => import('@/pages/workflow')),
    page('/app/runs', () => import('@/pages/runs')),
    page('/app/runs/$id', () => import('@/pages/run')),
    page('/app/approvals', () => import('@/pages/approvals')),
    page('/app/incidents', () => import('@/pages/incidents')),
    page('/app/schedules', () => import('@/pages/schedules')),
    page('/app/stores', () => import('@/pages/stores')),
    page('/app/queues', () => import('@/pages/queues')),
    page('/app/access', () => import('@/pages/access')),
    page('/app/audit', () => import('@/pages/audit')),
    page('/app/settings', () => import('@/pages/settings')),
    page('/app/releases', () => import('@/pages/releases')),
    page('/app/releases/new', () => import('@/pages/release-new')),
    page('/app/releases/$id', () => import('@/pages/release')),
    page('/app/new', () => import('@/pages/empty')),
  ]),
  createRoute({
    getParentRoute: () => root,
    path: '/app/workflows/$name/edit',
    component: part(() => import('@/editor/page')),
    validateSearch: anything,
  }),
])

export const router = createRouter({ routeTree: tree, defaultPreload: 'intent', defaultErrorComponent: Wrong, scrollRestoration: true })

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}

function NotFound() {
  return (
    <main>
      <h1 className="sr">{t('error.notFound')}</h1>
      <EmptyState
        icon="search"
        title={t('error.notFound')}
        action={
          <Link className="btn" to="/">
            {t('error.notFoundDo')}
          </Link>
        }
      />
    </main>
  )
}

function Wrong({ error }: { error: unknown }) {
  return <ErrorPart error={error} title={t('error.page')} onRetry={() => location.reload()} />
}
