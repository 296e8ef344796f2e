/** Data and tags of a run, at any point of its history. */
import { useDeferredValue, useMemo } from 'react'
import type { Entry, Run } from '@/api/types'
import { t } from '@/messages'
import { Time } from '@/ui'
import { CopyButton, Json, Pairs, jsonText } from '@/ui/json'
import type { MarkingAt } from '@/api/operations'
import { dataAt } from './spans'

export interface Point {
  entries: Entry[]
  /** The entry that is looked at; null: now. */
  at: number | null
  onAt: (seq: number | null) => void
  /** The run at that entry, once the server has told it. */
  then: MarkingAt | undefined
}

/** The tags at the entry that is looked at; none until they are known. */
export const tagsAt = (run: Run, at: number | null, then: MarkingAt | undefined): Record<string, unknown> | null => (at === null ? (run.tags as Record<string, unknown>) : then?.seq === at ? then.tags : null)

const asObject = (value: unknown): Record<string, unknown> => (value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as Record<string, unknown>) : value === null || value === undefined ? {} : { '': value })

/** The panel beside timeline and history. */
export function DataPanel({ run, entries, at, onAt, then }: Point & { run: Run }) {
  const last = entries.at(-1)
  const seq = at ?? last?.seq ?? 0
  const late = useDeferredValue(seq)
  const data = useMemo(() => (at === null ? run.data : dataAt(entries, late)), [at, run.data, entries, late])
  const moment = entries.find((entry) => entry.seq === seq) ?? last
  return (
    <div className="col h-full gap-2 px-3.5 py-2.5">
      <div className="row">
        <b className="t12 grow">
          {t('rp.dataAt')} {moment ? <Time at={moment.at} as="time" dated /> : null}
        </b>
        <span className="cap">{t('rp.entryOf', { at: seq, of: last?.seq ?? 0 })}</span>
      </div>
      <Slider entries={entries} at={at} onAt={onAt} />
      <div className="min-h-0 flex-1 overflow-auto">
        <Pairs value={asObject(data)} />
        <TagPairs tags={tagsAt(run, at, then)} />
      </div>
      <div className="row">
        <CopyButton text={() => jsonText(data)} />
      </div>
    </div>
  )
}

function TagPairs({ tags }: { tags: Record<string, unknown> | null }) {
  if (tags === null || Object.keys(tags).length === 0) return null
  return (
    <>
      <h3 className="mt-2 mb-1">{t('rp.tags')}</h3>
      <Pairs value={tags} />
    </>
  )
}

/** Over the whole history, an entry a step; the end is now. */
export function Slider({ entries, at, onAt }: Pick<Point, 'entries' | 'at' | 'onAt'>) {
  const first = entries[0]?.seq ?? 1
  const last = entries.at(-1)?.seq ?? 1
  return <input type="range" className="slider" aria-label={t('rp.slider')} aria-valuetext={t('rp.entryOf', { at: at ?? last, of: last })} min={first} max={last} value={at ?? last} onChange={(event) => onAt(Number(event.target.value) >= last ? null : Number(event.target.value))} />
}

export function DataTab({ run, entries, at, onAt, then }: Point & { run: Run }) {
  const seq = at ?? entries.at(-1)?.seq ?? 0
  const data = useMemo(() => (at === null ? run.data : dataAt(entries, at)), [at, run.data, entries])
  return (
    <div className="grid gap-5 px-6 py-3 min-[1024px]:grid-cols-3 max-[719px]:px-4">
      <Part title={t('rp.data')} value={data} aside={<span className="cap">{t('rp.entryOf', { at: seq, of: entries.at(-1)?.seq ?? 0 })}</span>}>
        <Slider entries={entries} at={at} onAt={onAt} />
      </Part>
      <Part title={t('rp.tags')} value={tagsAt(run, at, then) ?? {}} />
      <Part title={t('rp.input')} value={run.input} />
      <Part title={t('rp.result')} value={run.result} />
      <Part title={t('rp.keys')} value={run.keys} />
      <Part title={t('rp.labels')} value={run.labels} />
    </div>
  )
}

function Part({ title, value, aside, children }: { title: string; value: unknown; aside?: React.ReactNode; children?: React.ReactNode }) {
  return (
    <section>
      <div className="row mb-1">
        <h3 className="grow">{title}</h3>
        {aside}
        <CopyButton text={() => jsonText(value)} />
      </div>
      {children}
      <Json value={value} />
    </section>
  )
}
