import type { ComponentProps, ReactNode } from 'react'
import { Icon, type IconName } from './icons'
import { Tooltip } from './overlays'

export interface ButtonProps extends ComponentProps<'button'> {
  kind?: 'plain' | 'primary' | 'ghost' | 'danger'
  size?: 'm' | 's'
  icon?: IconName
  busy?: boolean
}

const KINDS = { plain: '', primary: 'p', ghost: 'g', danger: 'd' }

export function Button({ kind = 'plain', size = 'm', icon, busy = false, className = '', children, disabled, ...rest }: ButtonProps) {
  return (
    <button type="button" className={`btn ${KINDS[kind]} ${size === 's' ? 'sm' : ''} ${className}`} disabled={disabled || busy} aria-busy={busy || undefined} {...rest}>
      {busy ? <span className="spin" aria-hidden="true" /> : icon ? <Icon name={icon} size="s" /> : null}
      {children}
    </button>
  )
}

export interface IconButtonProps extends Omit<ButtonProps, 'children' | 'icon'> {
  icon: IconName
  label: string
  keys?: string
}

/** A button that shows only a picture: its name is its tooltip too. */
export function IconButton({ icon, label, keys, kind = 'ghost', size = 'm', className = '', busy: _busy, ...rest }: IconButtonProps) {
  return (
    <Tooltip text={keys ? `${label} (${keys})` : label}>
      <button type="button" aria-label={label} className={`btn ic ${KINDS[kind]} ${size === 's' ? 'sm' : ''} ${className}`} {...rest}>
        <Icon name={icon} size={size === 's' ? 's' : 'm'} />
      </button>
    </Tooltip>
  )
}

export interface Choice<T extends string> {
  value: T
  label: ReactNode
  icon?: IconName
}

/** One of a few, all of them visible. */
export function Segments<T extends string>({ label, value, choices, onChange, size = 'm' }: { label: string; value: T; choices: Choice<T>[]; onChange: (value: T) => void; size?: 'm' | 's' }) {
  const move = (by: number) => {
    const at = choices.findIndex((choice) => choice.value === value)
    const next = choices[(at + by + choices.length) % choices.length]
    if (next) onChange(next.value)
  }
  return (
    <div
      role="radiogroup"
      aria-label={label}
      className={`seg ${size === 's' ? 'sm' : ''}`}
      onKeyDown={(event) => {
        if (event.key === 'ArrowRight' || event.key === 'ArrowLeft') {
          event.preventDefault()
          move(event.key === 'ArrowRight' ? 1 : -1)
          const group = event.currentTarget
          requestAnimationFrame(() => group.querySelector<HTMLElement>('[aria-checked=true]')?.focus())
        }
      }}
    >
      {choices.map((choice) => (
        // biome-ignore lint/a11y/useSemanticElements: a radio input could not hold the picture
        <button key={choice.value} type="button" role="radio" aria-checked={choice.value === value} tabIndex={choice.value === value ? 0 : -1} onClick={() => onChange(choice.value)}>
          {choice.icon ? <Icon name={choice.icon} size="s" /> : null}
          {choice.label}
        </button>
      ))}
    </div>
  )
}
