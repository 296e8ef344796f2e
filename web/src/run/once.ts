/** What is asked for twice, because the first answer was lost, is done once. */
import { useRef } from 'react'
import { freshId } from '@/ui/fresh'

/** A name for a wish: the same as long as it is the same wish, and as long as it is shown. */
export function useOnce(wish: unknown): string {
  const kept = useRef({ said: '', id: '' })
  const said = JSON.stringify(wish)
  if (kept.current.said !== said) kept.current = { said, id: freshId() }
  return kept.current.id
}
