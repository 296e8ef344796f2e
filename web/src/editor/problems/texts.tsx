/** Findings and their fixes in the words of the reader. */
import type { Finding } from '@/api/types'
import { titleOf } from '@/diagram/definition'
import { stopPlaying } from '@/diagram/player'
import { t } from '@/messages'
import { Button } from '@/ui'
import { edit, useEditor } from '../store'
import { type Fix, fixesFor } from './fixes'
import { worded } from './words'

export function findingText(finding: Finding): { sentence: string; hint: string } {
  const { definition, offers } = useEditor.getState()
  return worded(finding, definition, offers)
}

export function fixText(fix: Fix): string {
  const { definition } = useEditor.getState()
  const step = fix.values.step
  return t(`fix.${fix.id}`, { ...fix.values, ...(step === undefined ? {} : { step: titleOf(step, definition.steps[step]) }) })
}

export function FixButtons({ finding, max = 3 }: { finding: Finding; max?: number }) {
  const definition = useEditor((state) => state.definition)
  const offers = useEditor((state) => state.offers)
  if (useEditor((state) => state.readOnly)) return null
  return (
    <>
      {fixesFor(finding, definition, offers)
        .slice(0, max)
        .map((fix) => (
          <Button
            key={`${fix.id} ${JSON.stringify(fix.values)}`}
            size="s"
            onClick={(event) => {
              event.stopPropagation()
              stopPlaying()
              edit(fixText(fix), fix.edit)
            }}
          >
            {fixText(fix)}
          </Button>
        ))}
    </>
  )
}
