/** A run that succeeds, for people who want to see one: steps end well, and outside events come when nothing else can go on. */
import { type Definition, type Offers, externalsOf, portsOf } from '@/diagram/definition'
import { type State, type TraceItem, begin, comeIn, enabledSteps, fireStep } from '@/diagram/net'

const LONGEST = 400

export function goodRun(definition: Definition, offers: Offers = {}): TraceItem[] {
  const trace: TraceItem[] = []
  const fired = new Map<string, number>()
  let state: State = begin(definition).state
  let outside = externalsOf(definition)
  while (trace.length < LONGEST && state.ending === null) {
    const ready = enabledSteps(definition, state).sort((one, two) => (fired.get(one) ?? 0) - (fired.get(two) ?? 0))
    const next = ready.find((name) => (fired.get(name) ?? 0) < 3)
    if (next !== undefined) {
      const ports = portsOf(definition.steps[next] ?? {}, offers).filter((port) => port !== 'failed')
      const port = ports.includes('done') ? 'done' : (ports[(fired.get(next) ?? 0) % Math.max(1, ports.length)] ?? 'done')
      fired.set(next, (fired.get(next) ?? 0) + 1)
      state = fireStep(definition, state, next, port).state
      trace.push({ fire: next, port })
    } else {
      const [event, ...rest] = outside
      if (event === undefined || state.ok) break
      outside = rest
      state = comeIn(definition, state, event).state
      trace.push({ event })
    }
  }
  return trace
}
