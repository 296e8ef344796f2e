import { memo } from 'react'
import type { Note, Point } from '@/diagram/definition'
import type { Graph } from '@/diagram/graph'
import { type BoxLook, PLAIN } from '@/diagram/look'
import { labelOf } from '@/diagram/speech'
import { t } from '@/messages'
import { select, useEditor } from './store'
import { reveal } from './view'
import { reading, stretched, walkable } from './walk'

/** The drawing as a list for those who hear it: arrow keys walk it, and the canvas follows. */
export const Tree = memo(function Tree({ graph, places, looks, notes }: { graph: Graph; places: Map<string, Point>; looks: Map<string, BoxLook>; notes: Record<string, Note> | undefined }) {
  const selection = useEditor((state) => state.selection)
  const byId = new Map(graph.boxes.map((box) => [box.id, box]))
  const ground = walkable(graph, places, notes)
  const order = reading(ground)
  if (order.length === 0) return null
  const current = selection.findLast((id) => ground.at.has(id)) ?? order[0]
  return (
    <div
      className="reltree"
      role="tree"
      aria-multiselectable="true"
      tabIndex={-1}
      aria-label={t('diagram.tree')}
      onKeyDown={(event) => {
        const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
        const to = by ? order[order.indexOf(current ?? '') + by] : undefined
        if (!to) return
        event.preventDefault()
        event.stopPropagation()
        select(...(event.shiftKey ? stretched(selection, to) : [to]))
        reveal(to)
        const items = event.currentTarget.children
        ;(items[order.indexOf(to)] as HTMLElement | undefined)?.focus()
      }}
    >
      {order.map((id) => {
        const box = byId.get(id)
        return (
          <div key={id} role="treeitem" tabIndex={id === current ? 0 : -1} aria-selected={selection.includes(id)} onFocus={() => unlessSelected(id)}>
            {box ? labelOf(box, looks.get(id) ?? PLAIN) : t('diagram.note', { text: notes?.[id.slice(5)]?.text ?? '' })}
          </div>
        )
      })}
    </div>
  )
})

/** Who comes to one of several that are selected does not let go of the others. */
function unlessSelected(id: string): void {
  if (!useEditor.getState().selection.includes(id)) select(id)
}
