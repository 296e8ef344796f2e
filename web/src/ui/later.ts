import { useEffect, useState } from 'react'

/** True a moment after the page was opened: what stands beside does not hold up what people came for. */
export function useLater(after = 800): boolean {
  const [later, setLater] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setLater(true), after)
    return () => clearTimeout(timer)
  }, [after])
  return later
}
