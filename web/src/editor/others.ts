/** What others save meanwhile is noticed before one edits: on coming back to the page, and now and then while it is seen. */
import { useEffect } from 'react'
import { t } from '@/messages'
import { dismiss, toast } from '@/ui/toasts'
import { lookAgain, undo, useEditor } from './store'

const EVERY = 30_000

async function look(): Promise<void> {
  if (document.visibilityState === 'hidden') return
  const who = await lookAgain()
  if (who === null) return
  toast({ id: 'others', kind: 'acc', title: t('editor.others', { who: who || t('editor.somebody') }), detail: t('editor.othersDetail'), action: { label: t('act.undo'), run: undo }, lasts: 12_000 })
  const { past } = useEditor.getState()
  const stop = useEditor.subscribe((now) => {
    if (now.past === past) return
    stop()
    dismiss('others') // its undo would take back another edit
  })
}

export function useOthers(): void {
  useEffect(() => {
    const again = () => void look()
    const timer = setInterval(again, EVERY)
    globalThis.addEventListener('focus', again)
    document.addEventListener('visibilitychange', again)
    return () => {
      clearInterval(timer)
      globalThis.removeEventListener('focus', again)
      document.removeEventListener('visibilitychange', again)
    }
  }, [])
}
