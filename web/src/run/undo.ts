/** What is hard to take back begins ten seconds later, so that it can be undone until then.
 *
 * Who leaves the page does not undo it: it begins at once. */
import { cache } from '@/api/queries'
import { t } from '@/messages'
import { dismiss, toast } from '@/ui/toasts'
import { sentence } from './acting'

export const WINDOW = 10_000

export interface Undoable {
  /** What will be done, such as "The run is canceled". */
  title: string
  work: () => Promise<unknown>
  /** What was done; nothing where the work tells it itself. */
  done?: string
  /** What is asked for anew afterwards. */
  keys?: readonly (readonly unknown[])[]
}

const waiting = new Map<string, () => void>()
let number = 0

globalThis.addEventListener?.('pagehide', () => {
  for (const begin of [...waiting.values()]) begin()
})

/** Do it in a while, unless it is undone. */
export function undoable(wish: Undoable): void {
  const id = `undo-${++number}`
  const end = () => {
    clearTimeout(timer)
    waiting.delete(id)
    dismiss(id)
  }
  const begin = () => {
    if (!waiting.has(id)) return
    end()
    void perform(wish)
  }
  const timer = setTimeout(begin, WINDOW)
  waiting.set(id, begin)
  toast({
    id,
    kind: 'warn',
    title: wish.title,
    detail: t('undo.detail', { seconds: WINDOW / 1000 }),
    lasts: 0,
    counts: true,
    action: { label: t('undo.undo'), run: () => { end(); toast({ kind: 'ok', title: t('undo.undone'), lasts: 3_000 }) } },
    other: { label: t('undo.now'), run: begin },
  })
}

async function perform({ work, done, keys = [] }: Undoable): Promise<void> {
  try {
    await work()
    if (done) toast({ kind: 'ok', title: done })
  } catch (error) {
    toast({ kind: 'bad', title: t('rp.notDone'), detail: sentence(error), lasts: 10_000 })
  } finally {
    for (const queryKey of keys) void cache.invalidateQueries({ queryKey })
  }
}
