/** The first line of a box; F2 makes it a field, which says what the new title comes to before it is set. */
import { useRef, useState } from 'react'
import { Icon } from '@/ui/icons'
import type { BoxActs } from './boxes'
import type { StepBox } from './graph'
import { iconOf } from './icons'

export function Title({ box, acts }: { box: StepBox; acts: BoxActs }) {
  if (acts.renaming === box.id) return <Renaming box={box} acts={acts} />
  return (
    <div className="tt" title={box.title}>
      <Icon name={iconOf(box.task)} size="s" />
      <bdi className="ell">{box.title}</bdi>
    </div>
  )
}

function Renaming({ box, acts }: { box: StepBox; acts: BoxActs }) {
  const [text, setText] = useState(box.title)
  const told = acts.onTitle?.(box.id, text)
  const id = `${box.id} renaming`
  const left = useRef(false)
  return (
    <>
      <input
        className="rename nodrag nopan"
        value={text}
        aria-label={box.title}
        aria-describedby={told ? id : undefined}
        aria-invalid={told?.wrong ?? false}
        // biome-ignore lint/a11y/noAutofocus: whoever pressed F2 wants to type here
        autoFocus
        onFocus={(event) => event.target.select()}
        onChange={(event) => setText(event.target.value)}
        onBlur={() => left.current || acts.onRename?.(box.id, text)}
        onKeyDown={(event) => {
          event.stopPropagation()
          if (event.key === 'Enter' && !told?.wrong) event.currentTarget.blur()
          if (event.key !== 'Escape') return
          left.current = true // the focus goes elsewhere then, which would set what was typed
          acts.onRename?.(box.id, null)
        }}
      />
      {told ? (
        <div id={id} className={`renaming pop ${told.wrong ? 'bad' : 'mut'}`} role="status">
          {told.text}
        </div>
      ) : null}
    </>
  )
}
