/** Data as text: never as markup, cut where it is very long, with a button that copies the whole of it. */
import { useState } from 'react'
import { t } from '@/messages'
import { Button } from './buttons'
import { toClipboard } from './clipboard'
import { toast } from './toasts'

const LONG = 20_000

export async function copyText(text: string): Promise<void> {
  if (await toClipboard(text)) toast({ id: 'copied', kind: 'ok', title: t('act.copied'), lasts: 2_500 })
  else toast({ kind: 'bad', title: t('act.notCopied') })
}

export function CopyButton({ text, size = 's' }: { text: () => string; size?: 's' | 'm' }) {
  return (
    <Button size={size} icon="copy" onClick={() => void copyText(text())}>
      {t('act.copy')}
    </Button>
  )
}

/** A value in several lines. */
export function Json({ value }: { value: unknown }) {
  const [whole, setWhole] = useState(false)
  const text = jsonText(value)
  const cut = !whole && text.length > LONG
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what can be scrolled must be reached by keys */}
      <pre className="json" tabIndex={0} dir="auto">
        {cut ? text.slice(0, LONG) : text}
      </pre>
      {cut ? (
        <Button size="s" onClick={() => setWhole(true)}>
          {t('json.whole', { n: text.length })}
        </Button>
      ) : null}
    </>
  )
}

export const jsonText = (value: unknown): string => (value === undefined ? '' : (JSON.stringify(value, null, 2) ?? String(value)))

/** The names of an object, a line each; what is within is shown short. */
export function Pairs({ value }: { value: Record<string, unknown> }) {
  const names = Object.keys(value)
  if (names.length === 0) return <div className="fnt t12">{t('json.none')}</div>
  return (
    <dl className="pairs">
      {names.map((name) => (
        <div key={name}>
          <dt>
            <bdi>{name}</bdi> :
          </dt>
          <dd title={jsonText(value[name]).slice(0, 2000)}>
            <bdi>{short(value[name])}</bdi>
          </dd>
        </div>
      ))}
    </dl>
  )
}

export const short = (value: unknown, most = 80): string => {
  const text = JSON.stringify(value) ?? 'null'
  return text.length > most ? `${text.slice(0, most - 1)}…` : text
}
