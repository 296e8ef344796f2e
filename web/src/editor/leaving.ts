/** Text that is being typed and is no edit yet: whoever holds some is asked to make it one before the page goes. */
const takers = new Set<() => void>()

/** Asks `take` before the page goes; what it gives back ends that. */
export function beforeLeaving(take: () => void): () => void {
  takers.add(take)
  return () => {
    takers.delete(take)
  }
}

/** Now: all that was typed becomes edits. */
export function takeAllTyped(): void {
  for (const take of takers) take()
}
