import { t } from '@/messages'
import { type Line, near } from './diff'

/** Changed lines with their marks: plus and minus say it, the tint only helps. */
export function DiffLines({ lines }: { lines: Line[] }) {
  const shown = near(lines)
  if (!shown.some((line) => line !== null && line.kind !== 'same')) return <p className="t12 mut">{t('publish.noChange')}</p>
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and keys must reach it
    <section className="max-h-[34vh] overflow-auto rounded-2 border border-line" tabIndex={0} aria-label={t('publish.changes')}>
      {shown.map((line, at) => (
        <div key={at} className={`diffline ${line?.kind ?? ''}`}>
          <span aria-hidden={line === null || line.kind === 'same'}>{line === null ? '⋮' : line.kind === 'add' ? '+' : line.kind === 'del' ? '−' : ''}</span>
          <span>{line?.text ?? ''}</span>
        </div>
      ))}
    </section>
  )
}
