/** What an address names is not there: that is said, with a way on. Asking again would not help. */
import { Link } from '@tanstack/react-router'
import { useTitle } from './heading'
import { EmptyState } from '@/ui'

export function Missing({ title, detail, to, back }: { title: string; detail: string; to: '/app/runs' | '/app/workflows' | '/app/releases'; back: string }) {
  useTitle(title)
  return (
    <EmptyState
      icon="search"
      title={title}
      detail={detail}
      action={
        <Link to={to} className="btn">
          {back}
        </Link>
      }
    />
  )
}
