/** What the checks say of what runs, and of what is drawn: two things, where a draft has changes. */
import { useQuery } from '@tanstack/react-query'
import { at, get, post } from '@/api/client'
import type { Draft, Report, Version } from '@/api/types'
import type { Verdict } from '@/ui'

type Checked = Pick<Draft, 'verdict' | 'findings'>

export function verdictOf(checked: Checked | undefined): Verdict | null {
  if (!checked) return null
  const count = (severity: string) => checked.findings.filter((each) => each.severity === severity).length
  if (checked.verdict === 'proved') return { kind: 'proved', warnings: count('warning') }
  if (checked.verdict === 'refuted') return { kind: 'refuted', errors: count('error') }
  return { kind: 'undecided', seconds: 2 }
}

/** A draft without a step yet: there is nothing to prove. */
function isEmpty({ definition }: Draft): boolean {
  const steps = (definition as { steps?: object } | undefined)?.steps
  return steps !== undefined && Object.keys(steps).length === 0
}

export interface Verdicts {
  /** Of the published version; of the draft where nothing is published. */
  seal: Verdict | null
  /** Of the draft, where it is another thing than what runs. */
  draft: Verdict | null
}

/** Which seal belongs to what. */
export function verdictsOf(draft: Draft | undefined, published: Checked | undefined): Verdicts {
  if (draft && isEmpty(draft)) return { seal: verdictOf(draft.published_version === null ? undefined : published), draft: null }
  if (!draft || draft.published_version === null || !draft.changed) return { seal: verdictOf(draft), draft: null }
  return { seal: verdictOf(published), draft: verdictOf(draft) }
}

/** A version never changes, so it is checked once. */
export function useVerdicts(draft: Draft | undefined): Verdicts {
  const name = draft?.name ?? ''
  const version = draft?.published_version ?? 0
  const published = useQuery({
    queryKey: ['checked', name, version],
    queryFn: async ({ signal }) => {
      const { definition } = await get<Version>(at`/api/workflows/${name}/versions/${version}`, signal)
      return post<Report>('/api/check', { definition })
    },
    enabled: version > 0 && draft?.changed === true,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  }).data
  return verdictsOf(draft, published)
}
