/** Data that tries and live values begin with: it stays in this browser. */
import { externalsOf, titleOf } from '@/diagram/definition'
import { t } from '@/messages'
import { Button, EmptyState, IconButton } from '@/ui'
import { JsonValue } from '../inspector/fields'
import { useEditor } from '../store'
import { exampleOf, pin, pinEvent, pinStub, takeLastRun, usePinned } from './sample'

export default function Pinned() {
  const pinned = usePinned((state) => state.pinned)
  const definition = useEditor((state) => state.definition)
  const stubs = Object.entries(pinned.stubs).filter(([step, stub]) => definition.steps[step] && stub.error === undefined)
  return (
    <div className="h-full overflow-auto p-3 t12">
      <div className="row mb-2">
        <span className="grow mut">{pinned.from === 'run' && pinned.run ? t('trying.pinnedRun', { run: pinned.run }) : pinned.from === 'example' ? t('trying.pinnedExample') : t('trying.pinnedOwn')}</span>
        <Button size="s" onClick={() => pin({ from: 'example', run: undefined, data: undefined, tags: undefined, input: exampleOf(definition), stubs: {} })}>
          {t('trying.example')}
        </Button>
        <Button size="s" onClick={() => void takeLastRun()}>
          {t('trying.lastRun')}
        </Button>
      </div>
      <div className="grid grid-cols-3 gap-3">
        <Piece title={t('trying.input')} value={pinned.input} onChange={(input) => pin({ from: 'own', input: input ?? {}, data: undefined })} />
        {externalsOf(definition).map((event) => (
          <Piece key={event} title={t('trying.dataOf', { event })} value={pinned.events[event]?.data} onChange={(data) => pinEvent(event, { data })} />
        ))}
        {stubs.map(([step, stub]) => (
          <Piece key={step} title={t('trying.outputOf', { step: titleOf(step, definition.steps[step]) })} value={stub.output} onChange={(output) => pinStub(step, { ...stub, output })} onRemove={() => pinStub(step, null)} />
        ))}
      </div>
      {stubs.length === 0 ? <EmptyState title={t('trying.noStubs')} detail={t('trying.noStubsDetail')} /> : null}
    </div>
  )
}

function Piece({ title, value, onChange, onRemove }: { title: string; value: unknown; onChange: (value: unknown) => void; onRemove?: () => void }) {
  return (
    <section aria-label={title}>
      <div className="row">
        <b className="grow ell">{title}</b>
        {onRemove ? <IconButton icon="cross" size="s" label={t('trying.unpin', { what: title })} onClick={onRemove} /> : null}
      </div>
      <JsonValue label={title} value={value} rows={4} onChange={onChange} />
    </section>
  )
}
