/** Parts that are loaded when they are wanted: one that cannot be had, or goes wrong, says so, and the rest works. */
import { Component, type ComponentType, type ReactNode, Suspense, lazy, useEffect, useState } from 'react'
import { onReach } from '@/api/client'
import { sent } from '@/api/sent'
import { type Bringing, bringWanted, t } from '@/messages'
import { ErrorPart } from '@/ui/parts'

/** The server did not send the program of a part. */
class NotSent extends Error {}

type Load<P> = () => Promise<{ default: ComponentType<P> }>

/** How a part says that it could not be had; a dialog says it in a dialog. */
type Frame<P> = (said: ReactNode, props: P) => ReactNode

export type Part<P> = ((props: P) => ReactNode) & { preload: () => Promise<void> }

/** A part that comes with its messages when it is first shown, or earlier by `preload`; it is asked for again when the server is back. */
export function part<P extends object>(load: Load<P>, frame: Frame<P> = (said) => said): Part<P> {
  const had = sent(load)
  const own = new Set<Bringing>()
  const whole: Load<P> = () =>
    had()
      .then(async (program) => {
        await bringWanted(own)
        return program
      })
      .catch((cause: unknown) => {
        failed = true
        throw new NotSent(t('error.notSent'), { cause })
      })
  let tries = 0
  let failed = false
  let Now = lazy(whole)
  const anew = () => {
    Now = lazy(whole)
    failed = false
    tries += 1
    return tries
  }
  const Whole = (props: P) => {
    const [shown, setShown] = useState(() => (failed ? anew() : tries)) // who comes back asks again
    const again = () => setShown(anew())
    return (
      <Boundary key={shown} say={(error, retry) => frame(<Failed error={error} onRetry={retry} />, props)} onRetry={again}>
        <Suspense fallback={null}>
          <Now {...props} />
        </Suspense>
      </Boundary>
    )
  }
  return Object.assign(Whole, { preload: () => whole().then(undefined, () => undefined) as Promise<void> })
}

interface BoundaryProps {
  say: (error: unknown, retry: () => void) => ReactNode
  onRetry: () => void
  children: ReactNode
}

class Boundary extends Component<BoundaryProps, { error: unknown }> {
  override state = { error: undefined as unknown }

  static getDerivedStateFromError(error: unknown) {
    return { error: error ?? new Error() }
  }

  override render() {
    return this.state.error === undefined ? this.props.children : this.props.say(this.state.error, this.props.onRetry)
  }
}

function Failed({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  // biome-ignore lint/correctness/useExhaustiveDependencies: one failure is asked again for once
  useEffect(() => (error instanceof NotSent ? onReach((reach) => reach === 'here' && onRetry()) : undefined), [error])
  return <ErrorPart error={error} onRetry={onRetry} />
}

/** Fetches parts one by one while nothing else is to be done, so that they are there when the server is not. */
export function usePreloaded(parts: readonly { preload: () => Promise<unknown> }[]): void {
  useEffect(() => {
    let gone = false
    const idle = globalThis.requestIdleCallback ?? ((run: () => void) => setTimeout(run, 500))
    const next = (at: number) => {
      const each = parts[at]
      if (each && !gone) idle(() => void each.preload().then(() => next(at + 1)))
    }
    next(0)
    return () => {
      gone = true
    }
  }, [parts])
}
