import { useEffect, useRef } from 'react'
import { t } from '@/messages'
import { Button, IconButton, Segments } from '@/ui/buttons'
import { type Definition, titleOf } from './definition'
import { type Frame, enabledSteps } from './net'
import { goTo, setSpeed, startGame, stopPlaying, toggle, usePlayer } from './player'

const names = (definition: Definition, step: string | undefined) => titleOf(step ?? '', definition.steps[step ?? ''])

const ENDED_BY = { failed: 'FAIL', canceled: 'CANCEL', timed_out: 'TIMEOUT' } as const

/** What happens in a frame, in a sentence. */
export function frameText(frame: Frame, definition: Definition): string {
  switch (frame.kind) {
    case 'event':
      return t('player.fired', { event: frame.event ?? '', n: frame.takers.length })
    case 'outside':
      return t('player.outside', { event: frame.event ?? '', n: frame.takers.length })
    case 'fire':
      return t('player.fires', { step: names(definition, frame.step), taken: [...new Set(frame.taken)].map((name) => t('why.named', { name })).join(', ') || t('diagram.nothing'), port: frame.port ?? '' })
    case 'end': {
      const { ending, ok } = frame.state
      if (ending !== null && ending !== 'succeeded') return t('player.ended', { event: ENDED_BY[ending], ending: t(`player.${ending}`), n: frame.takers.length })
      return ok ? t('player.ended', { event: 'OK', ending: t('player.succeeded'), n: frame.takers.length }) : t('player.rest', { n: frame.takers.length })
    }
  }
}

/** The steps of a trace or of a game, and the controls below them. */
export function TracePanel({ definition }: { definition: Definition }) {
  const { frames, at, game, bad, title } = usePlayer()
  const list = useRef<HTMLOListElement>(null)
  const panel = useFocusWhilePlayed(game ? null : title)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the list follows the frame that is shown
  useEffect(() => {
    list.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' })
  }, [at])
  const frame = frames[at]
  if (!frame) return null
  const over = game && enabledSteps(definition, frame.state).length === 0
  return (
    <section ref={panel} tabIndex={-1} className="col h-full min-h-0 outline-none" aria-label={game ? t('game.title') : t('player.title')}>
      <div className="row px-4 pt-2 pb-1">
        <h3 aria-level={2} className="grow">{game ? t('game.title') : t('player.title')}</h3>
        <span className="cap">{game ? t('game.moves', { n: at }) : t('player.step', { at: at + 1, of: frames.length })}</span>
        <IconButton icon="cross" size="s" label={t('act.close')} onClick={stopPlaying} />
      </div>
      {game ? <p className="mut t12 px-4 pb-1">{over ? t('game.over') : t('game.detail')}</p> : null}
      <ol ref={list} className="min-h-0 flex-1 overflow-auto px-3 t12">
        {frames.map((each, index) => (
          <li key={`${index} ${each.kind} ${each.step ?? each.event}`} aria-current={index === at ? 'step' : undefined}>
            <button type="button" className={`row w-full rounded-1 px-1 py-[3px] text-start ${index === at ? 'font-semibold' : index > at ? 'mut' : ''}`} onClick={() => goTo(index)}>
              <span className={`tok ${index > at ? 'o' : ''}`} style={index === at && bad ? { background: 'var(--bad)' } : index < at ? { background: 'var(--text-3)' } : undefined} />
              <span>{frameText(each, definition)}</span>
            </button>
          </li>
        ))}
      </ol>
      <Controls definition={definition} />
      <div className="sr" aria-live="polite">
        {frameText(frame, definition)}
      </div>
    </section>
  )
}

/** What is played has the focus, so that its keys work; when it ends, what had it before has it again. */
function useFocusWhilePlayed(title: string | null) {
  const panel = useRef<HTMLElement>(null)
  useEffect(() => {
    if (title === null) return
    const before = document.activeElement
    const own = panel.current
    own?.focus({ preventScroll: true })
    return () => {
      const inside = document.activeElement === document.body || own?.contains(document.activeElement)
      if (inside && before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true })
    }
  }, [title])
  return panel
}

function Controls({ definition }: { definition: Definition }) {
  const { frames, at, playing, speed, game, bad } = usePlayer()
  const last = frames.length - 1
  return (
    <div className="row px-3 py-2">
      <IconButton icon="tostart" size="s" label={t('player.toStart')} onClick={() => goTo(0)} />
      <IconButton icon="back" size="s" label={t('player.back')} keys="," disabled={at === 0} onClick={() => goTo(at - 1)} />
      {game ? null : <IconButton icon={playing ? 'pause' : 'play'} kind="plain" size="s" label={playing ? t('player.pause') : t('player.play')} keys="Space" onClick={toggle} />}
      <IconButton icon="forward" size="s" label={t('player.forward')} keys="." disabled={at >= last} onClick={() => goTo(at + 1)} />
      <input type="range" className={`scrub ${bad ? 'b' : ''}`} min={0} max={Math.max(1, last)} value={at} aria-label={t('player.scrub')} onChange={(event) => goTo(Number(event.target.value))} />
      {game ? (
        <Button size="s" icon="again" onClick={() => startGame(definition, t('game.title'))}>
          {t('game.restart')}
        </Button>
      ) : (
        <Segments size="s" label={t('player.speed')} value={String(speed)} choices={[{ value: '0.5', label: '½×' }, { value: '1', label: '1×' }, { value: '2', label: '2×' }]} onChange={(value) => setSpeed(Number(value) as 0.5 | 1 | 2)} />
      )}
    </div>
  )
}
