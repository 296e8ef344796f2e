import { useWorkflows } from '@/api/queries'

/** What people call a workflow, by its name. */
export function useTitles(): (name: string) => string {
  const items = useWorkflows().data?.items
  return (name) => items?.find((each) => each.name === name)?.title ?? name
}
