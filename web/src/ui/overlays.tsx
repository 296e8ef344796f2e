import { Dialog as RadixDialog, DropdownMenu, Popover as RadixPopover, Tooltip as RadixTooltip } from 'radix-ui'
import { type KeyboardEvent, type ReactElement, type ReactNode, useRef } from 'react'
import { t } from '@/messages'
import { Icon, type IconName } from './icons'

export function Tooltip({ text, children, side }: { text: ReactNode; children: ReactElement; side?: 'top' | 'right' | 'bottom' | 'left' }) {
  return (
    <RadixTooltip.Root>
      <RadixTooltip.Trigger asChild>{children}</RadixTooltip.Trigger>
      <RadixTooltip.Portal>
        <RadixTooltip.Content className="pop tip" sideOffset={6} side={side} collisionPadding={8}>
          {text}
        </RadixTooltip.Content>
      </RadixTooltip.Portal>
    </RadixTooltip.Root>
  )
}

export const TooltipProvider = RadixTooltip.Provider

export interface DialogProps {
  open: boolean
  onClose: () => void
  title: string
  detail?: ReactNode
  children?: ReactNode
  actions?: ReactNode
  width?: number
}

/** Ctrl Enter does what the dialog is for, from wherever one is in it; what destroys is pressed itself. */
function goes(event: KeyboardEvent<HTMLElement>): void {
  if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
  event.preventDefault()
  event.stopPropagation()
  event.currentTarget.querySelector<HTMLButtonElement>('.btn.p:not(:disabled)')?.click()
}

/** A question over the page; Esc and the veil leave everything as it is, but a click beside it does not cost what was typed. */
export function Dialog({ open, onClose, title, detail, children, actions, width }: DialogProps) {
  const typed = useRef(false)
  const opens = () => {
    typed.current = false
  }
  const enters = () => {
    typed.current = true
  }
  return (
    <RadixDialog.Root open={open} onOpenChange={(now) => !now && onClose()}>
      <RadixDialog.Portal>
        <RadixDialog.Overlay className="veil" />
        <RadixDialog.Content className="dlg" onKeyDown={goes} onOpenAutoFocus={opens} onInput={enters} onInteractOutside={(event) => typed.current && event.preventDefault()} style={width ? { width: `min(${width}px, calc(100vw - 32px))` } : undefined} {...(detail ? {} : { 'aria-describedby': undefined })}>
          <RadixDialog.Title className="text-14">{title}</RadixDialog.Title>
          {detail ? <RadixDialog.Description className="mut t12 mt-1">{detail}</RadixDialog.Description> : null}
          <div className="mt-3">{children}</div>
          {actions ? <div className="mt-4 flex flex-wrap justify-end gap-2">{actions}</div> : null}
        </RadixDialog.Content>
      </RadixDialog.Portal>
    </RadixDialog.Root>
  )
}

export function Popover({ trigger, children, label, align = 'start', open, onOpenChange }: { trigger: ReactElement; children: ReactNode; label: string; align?: 'start' | 'center' | 'end'; open?: boolean; onOpenChange?: (open: boolean) => void }) {
  return (
    <RadixPopover.Root open={open} onOpenChange={onOpenChange}>
      <RadixPopover.Trigger asChild>{trigger}</RadixPopover.Trigger>
      <RadixPopover.Portal>
        <RadixPopover.Content className="pop p-3" sideOffset={6} align={align} collisionPadding={8} aria-label={label}>
          {children}
        </RadixPopover.Content>
      </RadixPopover.Portal>
    </RadixPopover.Root>
  )
}

export interface MenuItem {
  id: string
  label: string
  icon?: IconName
  keys?: string
  danger?: boolean
  disabled?: boolean
  checked?: boolean
  separated?: boolean
  run: () => void
}

export function Menu({ trigger, items, align = 'end' }: { trigger: ReactElement; items: MenuItem[]; align?: 'start' | 'center' | 'end' }) {
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger asChild>{trigger}</DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content className="pop menu" sideOffset={4} align={align} collisionPadding={8}>
          {items.map((item) => (
            <MenuLine key={item.id} item={item} />
          ))}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  )
}

function MenuLine({ item }: { item: MenuItem }) {
  const inside = (
    <>
      {item.checked !== undefined ? <Icon name="check" size="s" className={item.checked ? '' : 'invisible'} /> : item.icon ? <Icon name={item.icon} size="s" /> : null}
      <span className="grow">{item.label}</span>
      {item.keys ? <span className="kbd">{item.keys}</span> : null}
    </>
  )
  return (
    <>
      {item.separated ? <DropdownMenu.Separator className="sep" /> : null}
      {item.checked !== undefined ? (
        <DropdownMenu.CheckboxItem checked={item.checked} disabled={item.disabled} onSelect={item.run}>
          {inside}
        </DropdownMenu.CheckboxItem>
      ) : (
        <DropdownMenu.Item className={item.danger ? 'bad' : ''} disabled={item.disabled} onSelect={item.run}>
          {inside}
        </DropdownMenu.Item>
      )}
    </>
  )
}

export function MoreMenu({ items, label = t('act.more') }: { items: MenuItem[]; label?: string }) {
  return (
    <Menu
      items={items}
      trigger={
        <button type="button" className="btn g ic" aria-label={label}>
          <Icon name="more" />
        </button>
      }
    />
  )
}
