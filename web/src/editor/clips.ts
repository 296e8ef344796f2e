/** Copy and paste: what is selected becomes text, and text becomes boxes where they are seen. */
import type { Point } from '@/diagram/definition'
import { t } from '@/messages'
import { toClipboard } from '@/ui/clipboard'
import { toast } from '@/ui/toasts'
import { editDrawn, removeSelected } from './acts'
import { type Clip, copySteps, paste, readClip } from './document'
import { select, useEditor } from './store'
import { type Sight, canvas, middle, seen } from './view'

export async function copySelected(cut = false): Promise<void> {
  const { selection, definition } = useEditor.getState()
  const inGroups = selection.flatMap((id) => definition.view?.groups?.[id.slice(6)]?.steps ?? [])
  const names = [...new Set([...selection, ...inGroups])].filter((id) => definition.steps[id])
  const also = selection.filter((id) => id.startsWith('note:') || id.startsWith('group:'))
  if (names.length === 0 && also.length === 0) return
  const text = JSON.stringify(copySteps(definition, names, canvas()?.places ?? new Map(), also), null, 2)
  if (!(await toClipboard(text))) {
    toast({ kind: 'bad', title: t('act.notCopied') })
    return
  }
  if (cut) {
    select(...new Set([...selection, ...names]))
    removeSelected()
  }
  else toast({ id: 'copied', kind: 'ok', title: t('did.copied', { n: names.length }), lasts: 2500 })
}

export function pasteText(text: string): void {
  const clip = readClip(text)
  if (!clip) {
    toast({ kind: 'bad', title: t('did.notPasted') })
    return
  }
  const by = shiftOf(clip, [...(canvas()?.places?.values() ?? [])], seen(), middle())
  const { names } = paste(useEditor.getState().definition, clip, by)
  editDrawn(t('did.paste'), (now) => paste(now, clip, by).definition, () => {
    select(...names)
    toast({ id: 'pasted', kind: 'ok', title: t('did.pasted', { n: names.length }), lasts: 2500 })
  })
}

const STEP = 32

/** By how much what is pasted is moved: a little, so that it covers nothing that stands just there; to the middle where it would not be seen. */
export function shiftOf(clip: Clip, taken: readonly Point[], sight: Sight | null, centre: Point): Point {
  const own = [...Object.values(clip.view.positions), ...Object.values(clip.view.notes ?? {}).map((note) => note.at)]
  const [xs, ys] = [own.map(([x]) => x), own.map(([, y]) => y)]
  const [x, y] = [(Math.min(...xs) + Math.max(...xs)) / 2, (Math.min(...ys) + Math.max(...ys)) / 2]
  const hidden = sight !== null && (x < sight.left || x > sight.right || y < sight.top || y > sight.bottom)
  const begin: Point = hidden ? [snapped(centre[0] - x), snapped(centre[1] - y)] : [STEP, STEP]
  const held = new Set(taken.map(String))
  for (let n = 0; ; n++) {
    const by: Point = [begin[0] + n * STEP, begin[1] + n * STEP]
    if (!own.some((at) => held.has(String([at[0] + by[0], at[1] + by[1]])))) return by
  }
}

const snapped = (value: number): number => Math.round(value / 16) * 16
