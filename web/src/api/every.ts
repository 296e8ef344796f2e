/** Lists that are read whole: what is counted or searched must not end at the first page. */
import { get, query } from './client'
import type { Page } from './types'

/** More pages than a person would read; `next` says that there are more. */
const MOST = 25

export async function every<T>(path: string, signal: AbortSignal, more: Record<string, string> = {}): Promise<Page<T>> {
  const items: T[] = []
  let next: string | null = null
  for (let pages = 0; pages < MOST && (pages === 0 || next); pages += 1) {
    const page: Page<T> = await get<Page<T>>(`${path}${query({ ...more, limit: 200, cursor: next ?? undefined })}`, signal)
    items.push(...page.items)
    next = page.next ?? null
  }
  return { items, next }
}
