import { Select as RadixSelect, Switch as RadixSwitch } from 'radix-ui'
import { type ComponentProps, type ReactNode, useId } from 'react'
import { Icon, type IconName } from './icons'

/** A label, what is filled in, and below it what is wrong or what it is for. */
export function Field({ label, hint, error, aside, children }: { label: string; hint?: ReactNode; error?: ReactNode; aside?: ReactNode; children: (ids: { id: string; 'aria-describedby'?: string; 'aria-invalid'?: boolean }) => ReactNode }) {
  const id = useId()
  const said = hint || error ? `${id}-said` : undefined
  return (
    <div>
      <label className="lab" htmlFor={id}>
        <span>{label}</span>
        {aside ? <span className="fnt">{aside}</span> : null}
      </label>
      {children({ id, 'aria-describedby': said, 'aria-invalid': error ? true : undefined })}
      {said ? (
        <div id={said} className={`t11 mt-1 ${error ? 'bad' : 'fnt'}`}>
          {error ?? hint}
        </div>
      ) : null}
    </div>
  )
}

export function TextInput({ className = '', ...rest }: ComponentProps<'input'>) {
  return <input className={`f ${className}`} autoComplete="off" spellCheck={false} {...rest} />
}

export function TextArea({ className = '', ...rest }: ComponentProps<'textarea'>) {
  return <textarea className={`f ${className}`} spellCheck={false} {...rest} />
}

/** A field to search in, with its key beside it. */
export function SearchInput({ label, keys, icon = 'search', className = '', ...rest }: ComponentProps<'input'> & { label: string; keys?: string; icon?: IconName }) {
  return (
    <div className={`f ${className}`}>
      <Icon name={icon} size="s" />
      <input type="search" aria-label={label} placeholder={label} autoComplete="off" spellCheck={false} {...rest} />
      {keys ? <span className="kbd">{keys}</span> : null}
    </div>
  )
}

export function Select<T extends string>({ value, options, onChange, label, id, disabled, placeholder, className = '' }: { value: T; options: { value: T; label: string }[]; onChange: (value: T) => void; label?: string; id?: string; disabled?: boolean; placeholder?: string; className?: string }) {
  return (
    <RadixSelect.Root value={value} onValueChange={(next) => onChange(next as T)} disabled={disabled}>
      <RadixSelect.Trigger id={id} className={`f w-full justify-between ${className}`} aria-label={label}>
        <span className="ell">
          <RadixSelect.Value placeholder={placeholder} />
        </span>
        <RadixSelect.Icon>
          <Icon name="down" size="xs" />
        </RadixSelect.Icon>
      </RadixSelect.Trigger>
      <RadixSelect.Portal>
        <RadixSelect.Content className="pop menu" position="popper" sideOffset={4} collisionPadding={8}>
          <RadixSelect.Viewport nonce={nonce()}>
            {options.map((option) => (
              <RadixSelect.Item key={option.value} value={option.value} className="flex min-h-7 cursor-pointer items-center gap-2 rounded-1 px-2 outline-none data-[highlighted]:bg-hover">
                <RadixSelect.ItemText>{option.label}</RadixSelect.ItemText>
              </RadixSelect.Item>
            ))}
          </RadixSelect.Viewport>
        </RadixSelect.Content>
      </RadixSelect.Portal>
    </RadixSelect.Root>
  )
}

/** The word that styles made by libraries must carry. */
export function nonce(): string {
  return document.querySelector<HTMLMetaElement>('meta[name=csp-nonce]')?.content ?? ''
}

export function Switch({ checked, onChange, label, id, disabled }: { checked: boolean; onChange: (checked: boolean) => void; label: string; id?: string; disabled?: boolean }) {
  return (
    <RadixSwitch.Root className="switch" id={id} checked={checked} onCheckedChange={onChange} aria-label={label} disabled={disabled}>
      <RadixSwitch.Thumb />
    </RadixSwitch.Root>
  )
}

export function Checkbox({ checked, onChange, label, id }: { checked: boolean; onChange: (checked: boolean) => void; label: string; id?: string }) {
  return <input id={id} type="checkbox" className="h-3.5 w-3.5 accent-[var(--accent)]" checked={checked} aria-label={label} onChange={(event) => onChange(event.target.checked)} />
}
