import { Handle, type Node, type NodeProps, Position } from '@xyflow/react'
import { type MouseEvent, type ReactNode, createContext, memo, useContext } from 'react'
import { t } from '@/messages'
import { STEP_LOOKS } from '@/ui/chips'
import { Icon } from '@/ui/icons'
import type { EdgeBox, GroupBox, LooseBox, OutsideBox, Pin, Port, StepBox } from './graph'
import { hovers, useLinked } from './hover'
import { type BoxLook, stateText } from './look'
import { labelOf } from './speech'
import { Title } from './title'

export type BoxData<B> = { box: B; look: BoxLook; editable: boolean }
export type StepNode = Node<BoxData<StepBox>, 'step'>

export interface BoxActs {
  onPort?: (box: string, port: string, event: MouseEvent) => void
  onFire?: (box: string) => void
  onBadge?: (box: string) => void
  onRename?: (box: string, title: string | null) => void
  /** What that title would come to, and whether it cannot be. */
  onTitle?: (box: string, title: string) => { text: string; wrong: boolean } | null
  onEvent?: (event: string) => void
  /** Folds or opens a group. */
  onFold?: (group: string) => void
  renaming?: string | null
  /** While a wire is drawn: which pins and ports can take it. */
  accepts?: ((box: string, port: string) => boolean) | null
}

export const BoxActsContext = createContext<BoxActs>({})

/** True where boxes are so small that only their titles can be seen: the rest would only cost time. */
export const FarContext = createContext(false)

const STATE_CLASS: Record<string, string> = { running: 'run', complete: 'done', failed: 'err', blocked: 'blk', disabled: 'dis' }
const words = { attempt: (n: number) => t('diagram.attempt', { n }), tries: (n: number) => t('diagram.tries', { n }) }

/** A small round (or, for failures, square) place on the edge of a box. */
function Knob({ box, id, y, side, kind, name, editable }: { box: string; id: string; y: number; side: 'left' | 'right'; kind: string; name: string; editable: boolean }) {
  const acts = useContext(BoxActsContext)
  const fades = acts.accepts ? (acts.accepts(box, id) ? 'lit' : 'fade') : ''
  const dot = <span className={`pt ${kind}`} />
  if (!editable) {
    return (
      <span className={`knob ${side}`} style={{ top: y }}>
        {dot}
      </span>
    )
  }
  return (
    <Handle
      id={id}
      type={side === 'left' ? 'target' : 'source'}
      position={side === 'left' ? Position.Left : Position.Right}
      className={`knob ${side} ${fades}`}
      style={{ top: y }}
      data-port={`${box}|${id}`}
      title={name}
      onClick={(event) => acts.onPort?.(box, id, event)}
    >
      {dot}
    </Handle>
  )
}

const pinKind = (look: BoxLook, pin: Pin) => {
  const held = look.tokens?.[pin.id]
  if (!held || held.count === 0) return ''
  return held.bad ? 'errp' : held.part ? 'half' : 'full'
}

function Count({ count, y, x }: { count: number; y: number; x: number }) {
  if (count < 2) return null
  return (
    <span className="cnt" style={{ top: y, left: x }}>
      {count > 9 ? '9+' : count}
    </span>
  )
}

export const StepView = memo(function StepView({ data, selected }: NodeProps<StepNode>) {
  const { box, look, editable } = data
  const acts = useContext(BoxActsContext)
  const far = useContext(FarContext)
  const linked = useLinked(box)
  const refuses = acts.accepts ? !acts.accepts(box.id, 'in') && !box.ports.some((port) => acts.accepts?.(box.id, port.id)) : false
  const state = look.state
  const status = box.disabled ? 'disabled' : state?.status
  const classes = ['bx', box.join ? 'join' : '', status ? (STATE_CLASS[status] ?? '') : '', look.finding === 'error' || look.bad ? 'err' : '', selected ? 'sel' : '', look.dim || refuses ? 'dim' : '', look.lit ? 'lit' : '', linked ? 'linked' : '']
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset would bring its own look and a legend
    <div className={classes.join(' ')} style={{ width: box.width, height: box.height }} role="group" aria-label={labelOf(box, look)} data-step={box.name}>
      {look.heat ? <span className="heat" style={{ opacity: 0.08 + look.heat.share * 0.4 }} /> : null}
      <Title box={box} acts={acts} />
      {far ? null : <Inside box={box} look={look} status={status} editable={editable} />}
      {look.finding ? <Badge finding={look.finding} onClick={acts.onBadge ? () => acts.onBadge?.(box.id) : undefined} /> : null}
    </div>
  )
})

function Inside({ box, look, status, editable }: { box: StepBox; look: BoxLook; status: string | undefined; editable: boolean }) {
  const acts = useContext(BoxActsContext)
  const state = look.state
  return (
    <>
      <SecondLine box={box} look={look} status={status} />
      <JoinBar box={box} look={look} />
      {box.starts && !state && !look.tokens ? <span className="atonce">{t('diagram.atOnce')}</span> : null}
      {state?.status === 'running' && state.progress != null ? <progress className="pgs" value={state.progress} max={1} aria-hidden="true" /> : null}
      {look.playable ? (
        <button type="button" className="fire nodrag nopan" aria-label={t('diagram.fire', { step: box.title })} onClick={() => acts.onFire?.(box.id)}>
          <Icon name="play" size="xs" />
        </button>
      ) : null}
      {box.pins.map((pin) => (
        <Knob key={pin.id} box={box.id} id={pin.id} y={pin.y} side="left" kind={pinKind(look, pin)} name={pin.events.join(' | ')} editable={editable} />
      ))}
      {box.pins.map((pin) => (
        <Count key={pin.id} count={look.tokens?.[pin.id]?.count ?? 0} y={pin.y} x={0} />
      ))}
      {box.ports.map((port) => (
        <Exit key={port.id} box={box.id} port={port} editable={editable} />
      ))}
    </>
  )
}

function Exit({ box, port, editable }: { box: string; port: Port; editable: boolean }) {
  return (
    <>
      {port.named ? (
        <span className="pname" style={{ top: port.y }} title={port.name}>
          {port.name}
        </span>
      ) : null}
      <Knob box={box} id={port.id} y={port.y} side="right" kind={port.failed ? 'q' : ''} name={port.name} editable={editable} />
    </>
  )
}

function SecondLine({ box, look, status }: { box: StepBox; look: BoxLook; status: string | undefined }) {
  const firings = look.state?.firings ?? 0
  const shown = status ? STEP_LOOKS[status] : undefined
  const beside = box.ports.find((port) => port.named && port.y < 42)
  const text = shown ? (status === 'disabled' || !look.state ? t(shown.text) : stateText(look.state, words, t(shown.text))) : box.task || t('diagram.noTask')
  return (
    <div className="mm flex items-center gap-1" title={beside ? text : undefined} style={beside ? { paddingInlineEnd: Math.min(80, 15 + beside.name.length * 6) } : undefined}>
      {shown ? (
        <span className={`st bare ${shown.tint === 'idle' ? '' : shown.tint}`}>
          <Icon name={shown.icon} />
          <span className="ell">{text}</span>
        </span>
      ) : (
        <span className="ell">{text}</span>
      )}
      {look.heat ? <span className="ms-auto">{look.heat.text}</span> : firings > 1 ? <span className="ms-auto">{t('diagram.firings', { n: firings })}</span> : null}
    </div>
  )
}

function JoinBar({ box, look }: { box: StepBox; look: BoxLook }) {
  const { join, pins } = box
  const first = pins[0]
  const last = pins.at(-1)
  if (!join || !first || !last) return null
  const here = pins.filter((pin) => (look.tokens?.[pin.id]?.count ?? 0) > 0 && !look.tokens?.[pin.id]?.part).length
  const word = joinWord(join)
  const rowed = pins.findIndex((pin, at) => at > 0 && !pin.label)
  const row = rowed > 0 ? rowed : 1
  const top = first.y - 8
  const height = last.y - first.y + 16
  return (
    <>
      {join.kind === 'some' ? (
        <span className="jn nm" style={{ top, height }}>
          {pins.map((pin, at) => (
            <i key={pin.id} className={at < join.need ? '' : 'o'} />
          ))}
        </span>
      ) : (
        <span className={`jn ${join.kind === 'either' ? 'ei' : ''}`} style={{ top, height }} />
      )}
      {pins.map((pin, at) => {
        const label = pin.label ? pinWord(pin, look) : ''
        const own = at === row ? (look.tokens && here > 0 ? t('diagram.here', { word, n: here }) : word) : ''
        if (!label && !own) return null
        return (
          <span key={pin.id} className="jl" style={{ top: pin.y - 7 }}>
            {own ? <b>{own}</b> : null}
            {own && label ? ' · ' : null}
            {label}
          </span>
        )
      })}
    </>
  )
}

function joinWord(join: NonNullable<StepBox['join']>): string {
  if (join.kind === 'all') return t('diagram.all', { n: join.count })
  return join.kind === 'either' ? t('diagram.either') : t('diagram.some', { need: join.need, of: join.count })
}

function pinWord(pin: Pin, look: BoxLook): string {
  const word = pin.label?.kind === 'some' ? t('diagram.some', { need: pin.label.need, of: pin.label.of }) : t('diagram.either')
  const held = look.tokens?.[pin.id]
  return held?.part ? t('diagram.here', { word, n: held.count }) : word
}

function Badge({ finding, onClick }: { finding: 'error' | 'warning' | 'info'; onClick?: () => void }) {
  const tint = { error: 'bad', warning: 'warn', info: 'idle' }[finding]
  const inside: ReactNode = <Icon name={finding === 'info' ? 'note' : finding} className={tint} />
  if (!onClick) return <span className="bdg">{inside}</span>
  return (
    <button type="button" className="bdg nodrag nopan" tabIndex={-1} aria-hidden="true" onClick={onClick}>
      {inside}
    </button>
  )
}

export const OutsideView = memo(function OutsideView({ data, selected }: NodeProps<Node<BoxData<OutsideBox>, 'outside'>>) {
  const { box, look, editable } = data
  const acts = useContext(BoxActsContext)
  const linked = useLinked(box)
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset would bring its own look and a legend
    <div className={`out ${selected ? 'sel' : ''} ${linked ? 'linked' : ''} ${look.dim ? 'dim' : ''}`} style={{ width: box.width, height: box.height }} role="group" aria-label={labelOf(box, look)}>
      <div className="cap">
        <Icon name="outside" size="xs" />
        {t('diagram.outside')}
      </div>
      {box.events.map((event) => {
        const here = (look.tokens?.[event]?.count ?? 0) > 0
        const inside = (
          <>
            <span className={`tok ${here ? '' : 'o'}`} />
            <bdi className="ell">{event}</bdi>
          </>
        )
        return acts.onEvent ? (
          <button key={event} type="button" className="e nodrag nopan" {...hovers(event)} onClick={() => acts.onEvent?.(event)}>
            {inside}
          </button>
        ) : (
          <div key={event} className="e" title={event} {...hovers(event)}>
            {inside}
          </div>
        )
      })}
      {box.some ? (
        <span className="segs" style={{ height: 20 * box.some.of - 6 }}>
          {box.events.map((event, at) => (
            <i key={event} className={at < (box.some?.need ?? 0) ? '' : 'o'} />
          ))}
        </span>
      ) : null}
      {box.ports.map((port) => (
        <Exit key={port.id} box={box.id} port={port} editable={editable} />
      ))}
    </div>
  )
})

export const EdgeView = memo(function EdgeView({ data, selected }: NodeProps<Node<BoxData<EdgeBox>, 'edge'>>) {
  const { box, look, editable } = data
  const linked = useLinked(box)
  if (box.kind === 'start') {
    const here = look.lit
    return (
      // biome-ignore lint/a11y/useSemanticElements: a fieldset would bring its own look and a legend
      <div className={`startn ${selected ? 'sel' : ''} ${linked ? 'linked' : ''} ${look.dim ? 'dim' : ''}`} role="group" aria-label={labelOf(box, look)} {...hovers(box.name)}>
        <span className={`tok ${here ? '' : 'o'}`} />
        <span className="below">{t('diagram.start')}</span>
        <Knob box={box.id} id="out:done" y={17} side="right" kind="none" name="START" editable={editable} />
      </div>
    )
  }
  const icon = box.name === 'OK' ? 'check' : box.name === 'TIMEOUT' ? 'clock' : 'cross'
  const tint = box.name === 'OK' ? 'okk' : box.name === 'FAIL' ? 'ff' : ''
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset would bring its own look and a legend
    <div className={`end ${tint} ${selected ? 'sel' : ''} ${linked ? 'linked' : ''} ${look.dim ? 'dim' : ''} ${look.lit ? 'lit' : ''}`} style={{ width: box.width, height: box.height }} role="group" aria-label={labelOf(box, look)} {...hovers(box.name)}>
      <Icon name={icon} />
      {box.name}
      {box.kind === 'end' ? (
        <Knob box={box.id} id="in0" y={12} side="left" kind="none" name={box.name} editable={editable} />
      ) : null}
      {box.kind === 'end' && !editable ? null : <Knob box={box.id} id="out:done" y={12} side="right" kind="none" name={box.name} editable={editable} />}
    </div>
  )
})

export const LooseView = memo(function LooseView({ data, selected }: NodeProps<Node<BoxData<LooseBox>, 'loose'>>) {
  const { box, look, editable } = data
  const linked = useLinked(box)
  const pill = (
    <span {...hovers(box.event)} className={`ev ${linked ? 'linked' : ''} ${box.kind === 'unfired' ? 'badl' : ''} ${selected ? 'on' : ''}`} title={box.event}>
      <span className="tok o" />
      <bdi className="ell">{box.event}</bdi>
    </span>
  )
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset would bring its own look and a legend
    <div className={`loose ${look.dim ? 'dim' : ''}`} style={{ maxWidth: box.width, height: box.height }} role="group" aria-label={labelOf(box, look)}>
      {pill}
      {box.kind === 'unused' ? (
        <>
          <span className="tail" />
          <span className="pt tailend" />
          <Knob box={box.id} id="in0" y={9} side="left" kind="none" name={box.event} editable={editable} />
        </>
      ) : (
        <Knob box={box.id} id="out:done" y={9} side="right" kind="none" name={box.event} editable={editable} />
      )}
    </div>
  )
})

export interface NoteBox {
  id: string
  text: string
  size: [number, number]
}

export const NoteView = memo(function NoteView({ data, selected }: NodeProps<Node<{ note: NoteBox }, 'note'>>) {
  return (
    <div className={`notebox ${selected ? 'sel' : ''}`} style={{ width: data.note.size[0], minHeight: data.note.size[1] }}>
      <bdi>{data.note.text}</bdi>
    </div>
  )
})

/** The frame of a group that is open. */
export const GroupView = memo(function GroupView({ id, data, selected }: NodeProps<Node<{ title: string; size: [number, number] }, 'frame'>>) {
  const acts = useContext(BoxActsContext)
  return (
    <div className={`groupbox ${selected ? 'sel' : ''}`} style={{ width: data.size[0], height: data.size[1] }}>
      {acts.onFold ? (
        <button type="button" className="foldmark nodrag nopan" tabIndex={-1} aria-label={t('diagram.fold', { title: data.title })} title={t('diagram.fold', { title: data.title })} onClick={() => acts.onFold?.(id)}>
          <Icon name="down" size="xs" />
        </button>
      ) : null}
      {/* nopan: a double click on it would zoom, and never be heard */}
      <bdi className="ell nopan">{data.title}</bdi>
    </div>
  )
})

/** A group that is folded. */
export const FoldView = memo(function FoldView({ id, data, selected }: NodeProps<Node<BoxData<GroupBox>, 'fold'>>) {
  const { box, look } = data
  const acts = useContext(BoxActsContext)
  const linked = useLinked(box)
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset would bring its own look and a legend
    <div className={`bx foldbox ${look.finding === 'error' ? 'err' : ''} ${selected ? 'sel' : ''} ${look.dim || acts.accepts ? 'dim' : ''} ${linked ? 'linked' : ''}`} style={{ width: box.width, height: box.height }} role="group" aria-label={labelOf(box, look)} data-group={box.title}>
      <div className="tt" title={box.title}>
        <button type="button" className="foldmark nodrag nopan" tabIndex={-1} aria-label={t('diagram.unfold', { title: box.title })} title={t('diagram.unfold', { title: box.title })} onClick={() => acts.onFold?.(id)}>
          <Icon name="right" size="xs" />
        </button>
        <bdi className="ell">{box.title}</bdi>
      </div>
      <div className="mm ell" title={box.steps.join(', ')}>
        {t('diagram.steps', { n: box.steps.length })}
      </div>
      {box.pins.map((pin) => (
        <Knob key={pin.id} box={box.id} id={pin.id} y={pin.y} side="left" kind="" name={pin.events.join(' | ')} editable={false} />
      ))}
      {box.ports.map((port) => (
        <Knob key={port.id} box={box.id} id={port.id} y={port.y} side="right" kind={port.failed ? 'q' : ''} name={port.name} editable={false} />
      ))}
      {look.finding ? <Badge finding={look.finding} onClick={() => acts.onFold?.(id)} /> : null}
    </div>
  )
})

export const NODE_TYPES = { step: StepView, outside: OutsideView, edge: EdgeView, loose: LooseView, note: NoteView, frame: GroupView, fold: FoldView }
