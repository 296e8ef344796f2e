/** F2: what a box is called is changed in its place. */
import { useEffect, useMemo, useState } from 'react'
import type { BoxActs } from '@/diagram/boxes'
import { t } from '@/messages'
import { toast } from '@/ui/toasts'
import { noteAt, renameEventAsk, renameGroupAsk } from './acts'
import { renameStep, setStep } from './document'
import { edit, select, useEditor } from './store'
import { retitling } from './titles'
import { canvas } from './view'

let setRenaming: (id: string | null) => void = () => undefined

/** F2: the title of a box is edited in its place; of a wire the event has another name; notes and groups are asked for theirs. */
export function startRenaming(id: string): void {
  if (useEditor.getState().readOnly) return
  if (useEditor.getState().definition.steps[id]) setRenaming(id)
  else if (id.startsWith('note:')) noteAt(undefined, id.slice(5))
  else if (id.startsWith('group:')) renameGroupAsk(id.slice(6))
  else if (id.startsWith('wire:')) {
    const wire = canvas()?.graph.wires.find((each) => each.id === id.slice(5))
    if (wire) renameEventAsk(wire.event)
  }
}

/** What a title would come to, in a sentence; null where it changes nothing. */
export function tellTitle(id: string, title: string): { text: string; wrong: boolean } | null {
  const found = retitling(useEditor.getState().definition, id, title)
  switch (found.kind) {
    case 'same':
      return null
    case 'refused':
      return { text: t(found.why === 'taken' ? 'naming.taken' : 'naming.reserved', { name: title.trim() }), wrong: true }
    default:
      return { text: found.kind === 'name' ? t('naming.step') : t('naming.title', { name: id }), wrong: false }
  }
}

export function useRenaming(): Pick<BoxActs, 'renaming' | 'onRename' | 'onTitle'> {
  const [renaming, set] = useState<string | null>(null)
  useEffect(() => {
    setRenaming = set
  }, [])
  return useMemo(
    () => ({
      renaming,
      onTitle: tellTitle,
      onRename: (id: string, title: string | null) => {
        set(null)
        if (title !== null) retitle(id, title.trim())
        document.querySelector<HTMLElement>('.edcanvas')?.focus()
      },
    }),
    [renaming],
  )
}

/** Calls a box that; what cannot be says why. */
export function retitle(id: string, title: string): void {
  const found = retitling(useEditor.getState().definition, id, title)
  if (found.kind === 'refused') toast({ id: 'refused', kind: 'bad', title: t('naming.not'), detail: tellTitle(id, title)?.text })
  if (found.kind === 'title') edit(t('did.rename'), setStep(id, { title: title === id ? undefined : title }))
  if (found.kind === 'name') edit(t('did.rename'), (now) => renameStep(now, id, title), () => select(title))
}
