/** Which events each port of a step fires. */
import { type Step, emitsOf, portsOf } from '@/diagram/definition'
import { t } from '@/messages'
import { Icon } from '@/ui'
import { fire, fireNoMore } from '../document'
import { edit, useEditor } from '../store'
import { AddEvent, Findings, Pill, Section } from './parts'

export function Fires({ name, step }: { name: string; step: Step }) {
  const offers = useEditor((state) => state.offers)
  const ports = portsOf(step, offers)
  const emits = emitsOf(step)
  if (ports.length === 0) return null
  return (
    <Section title={t('inspector.fires')}>
      <div className="col gap-1.5">
        {ports.map((port) => (
          <div key={port} className="row items-start t12">
            <span className="w-14 flex-none mut ell leading-5" title={port}>
              {port}
            </span>
            <div className="row flex-wrap gap-1 min-w-0 grow">
              {(emits[port] ?? []).map((event) => (
                <span key={event} className="row gap-0.5">
                  <Pill name={event} />
                  <button type="button" className="fx" aria-label={t('inspector.fireNoMore', { event, port })} onClick={() => edit(t('inspector.did.fires'), fireNoMore(name, port, event))}>
                    <Icon name="cross" size="xs" />
                  </button>
                </span>
              ))}
              <AddEvent small label={t('inspector.fireOn', { port })} waiting={false} onAdd={(event) => edit(t('inspector.did.fires'), fire(name, port, event))} />
            </div>
          </div>
        ))}
      </div>
      <Findings step={name} part="fires" />
    </Section>
  )
}
