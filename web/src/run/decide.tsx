/** What people are asked in a run, for who may decide it: it leads to the question. */
import { Link } from '@tanstack/react-router'
import { useApprovals } from '@/api/operations'
import type { Run } from '@/api/types'
import { t } from '@/messages'
import { Icon } from '@/ui'
import { type Said, asksPeople, titleOf } from './facts'

export function Decide({ run, said, step }: { run: Run; said: Said | undefined; step?: string }) {
  const asking = Object.entries(run.steps).some(([name, state]) => state.status === 'running' && asksPeople(said, name))
  const open = useApprovals('open', asking).data?.items ?? []
  if (!asking) return null
  return open
    .filter((each) => each.run === run.id && each.may_decide && (step === undefined || each.step === step))
    .slice(0, 4)
    .map((each) => {
      const text = t('rp.decide', { question: each.text ?? titleOf(said, each.step) })
      return (
        <Link key={each.id} className="btn p" to="/app/approvals" search={{ id: each.id }} title={text}>
          <Icon name="person" />
          <span className="ell">
            <bdi>{text}</bdi>
          </span>
        </Link>
      )
    })
}
