/** All that happened, the newest first; a line chosen shows diagram and data of that moment. */
import { memo, useMemo, useState } from 'react'
import type { Entry, LogLine, Run } from '@/api/types'
import { t } from '@/messages'
import { Button, Icon, Menu, Segments, Time } from '@/ui'
import { save } from '@/ui/save'
import { type Said, titleOf } from './facts'
import { LogPart } from './logs'
import { tell } from './tell'

export type Kinds = 'all' | 'events' | 'attempts'
const KINDS: Record<Kinds, (entry: Entry) => boolean> = {
  all: () => true,
  events: (entry) => entry.kind === 'event',
  attempts: (entry) => entry.kind === 'attempt' || entry.kind === 'fired' || entry.kind === 'ended',
}
/** Lines that are in the page at once. */
const SHOWN = 100

export function HistoryAside({ run, entries, kinds, onKinds }: { run: Run; entries: Entry[]; kinds: Kinds; onKinds: (kinds: Kinds) => void }) {
  const name = `${run.workflow}-${run.id}`
  return (
    <>
      <Segments
        size="s"
        label={t('rp.kinds')}
        value={kinds}
        choices={[
          { value: 'all', label: t('rp.kindsAll') },
          { value: 'events', label: t('rp.kindsEvents') },
          { value: 'attempts', label: t('rp.kindsAttempts') },
        ]}
        onChange={onKinds}
      />
      <Menu
        trigger={
          <Button size="s" icon="download" className="wide-only">
            JSON, XES, CSV
          </Button>
        }
        items={[
          { id: 'json', label: 'JSON', run: () => save(`${name}.json`, 'application/json', JSON.stringify(entries, null, 2)) },
          { id: 'xes', label: 'XES', run: () => save(`${name}.xes`, 'application/xml', xes(run, entries)) },
          { id: 'csv', label: 'CSV', run: () => save(`${name}.csv`, 'text/csv', csv(entries)) },
        ]}
      />
    </>
  )
}

export function HistoryTab({ entries, kinds, at, onAt, logs, said }: { entries: Entry[]; kinds: Kinds; at: number | null; onAt: (seq: number | null) => void; logs: LogLine[]; said: Said | undefined }) {
  const [most, setMost] = useState(SHOWN)
  const fitting = useMemo(() => entries.filter(KINDS[kinds]), [entries, kinds])
  const shown = useMemo(() => fitting.slice(-most).reverse(), [fitting, most])
  const chosen = at === null ? undefined : entries.find((entry) => entry.seq === at)
  const step = chosen?.step ?? entries.findLast((entry) => entry.kind === 'attempt' || entry.kind === 'ended')?.step ?? null
  return (
    <div className="two log">
      <div>
        <ol aria-label={t('rp.history')}>
          {shown.map((entry) => (
            <Line key={entry.seq} entry={entry} on={entry.seq === at} onAt={onAt} flow={said} />
          ))}
        </ol>
        {fitting.length > most ? (
          <div className="p-2 text-center">
            <Button size="s" onClick={() => setMost(most + 1000)}>
              {t('rp.older', { n: fitting.length - most })}
            </Button>
          </div>
        ) : null}
      </div>
      <LogPart key={step ?? ''} logs={logs} step={step} said={said} attempt={chosen?.attempt ?? null} />
    </div>
  )
}

const Line = memo(function Line({ entry, on, onAt, flow }: { entry: Entry; on: boolean; onAt: (seq: number | null) => void; flow: Said | undefined }) {
  const said = tell(entry, (step) => titleOf(flow, step))
  return (
    <li>
      <button type="button" className="hrow" aria-current={on} onClick={() => onAt(on ? null : entry.seq)}>
        <span className="fnt r">{entry.seq}</span>
        <span className="mut">
          <Time at={entry.at} as="time" dated />
        </span>
        <span className={said.tint}>
          <Icon name={said.icon} />
        </span>
        <span className="ell">
          <bdi>{said.text}</bdi>
          {said.more ? <span className="mut">, {said.more}</span> : null}
        </span>
      </button>
    </li>
  )
})

const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`
/** A sheet takes what begins with these as a formula. */
const harmless = (text: string) => (/^[=+\-@\t\r]/.test(text) ? `'${text}` : text)

export function csv(entries: Entry[]): string {
  const head = ['seq', 'at', 'kind', 'step', 'event', 'port', 'attempt', 'data']
  const lines = entries.map((entry) => [entry.seq, entry.at, entry.kind, entry.step ?? '', entry.event ?? '', entry.port ?? '', entry.attempt ?? '', entry.data == null ? '' : JSON.stringify(entry.data)].map((each) => quoted(harmless(String(each)))).join(','))
  return [head.join(','), ...lines].join('\r\n')
}

const escaped = (text: string) => text.replace(/[<>&"']/g, (sign) => `&#${sign.charCodeAt(0)};`)

/** The log of one case in the format of process mining. */
export function xes(run: Run, entries: Entry[]): string {
  const events = entries
    .filter((entry) => entry.kind === 'fired' || entry.kind === 'ended' || entry.kind === 'event')
    .map((entry) => `<event><string key="concept:name" value="${escaped(entry.step ?? entry.event ?? '')}"/><date key="time:timestamp" value="${entry.at}"/><string key="lifecycle:transition" value="${entry.kind === 'fired' ? 'start' : entry.kind === 'ended' ? 'complete' : 'unknown'}"/></event>`)
  return `<?xml version="1.0" encoding="UTF-8"?>\n<log xes.version="1.0"><trace><string key="concept:name" value="${escaped(run.id)}"/>${events.join('')}</trace></log>`
}
