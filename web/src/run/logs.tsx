/** What the tasks wrote, an attempt at a time. */
import { useState } from 'react'
import type { LogLine, Run } from '@/api/types'
import { t } from '@/messages'
import { EmptyState, IconButton, Segments, Select, Time } from '@/ui'
import { save } from '@/ui/save'
import { type Said, titleOf } from './facts'

const LEVELS: Record<string, { word: string; tint: string }> = {
  debug: { word: 'DEBUG', tint: 'fnt' },
  info: { word: 'INFO', tint: 'fnt' },
  warning: { word: 'WARN', tint: 'warn' },
  error: { word: 'ERR', tint: 'bad' },
}

/** Lines that are in the page at once. */
const SHOWN = 1000

const asText = (lines: LogLine[]) => lines.map((line) => `${line.at} ${line.level.toUpperCase()} ${line.step} #${line.attempt}${line.index === null ? '' : ` [${line.index}]`} ${line.text}`).join('\n')

export function LogPart({ logs, step, said, attempt }: { logs: LogLine[]; step: string | null; said: Said | undefined; attempt: number | null }) {
  const mine = logs.filter((line) => line.step === step)
  const attempts = [...new Set(mine.map((line) => line.attempt))].sort((one, two) => one - two)
  const [picked, setPicked] = useState<number | null>(null)
  const chosen = picked ?? (attempt !== null && attempts.includes(attempt) ? attempt : (attempts.at(-1) ?? 1))
  const shown = mine.filter((line) => line.attempt === chosen)
  return (
    <div className="px-3.5 py-2.5">
      <div className="row mb-2">
        <b className="t12 grow ell">{step ? t('rp.logOf', { step: titleOf(said, step) }) : t('rp.logs')}</b>
        {attempts.length > 1 ? <Segments size="s" label={t('rp.attempt')} value={String(chosen)} choices={attempts.slice(-9).map((each) => ({ value: String(each), label: String(each) }))} onChange={(next) => setPicked(Number(next))} /> : null}
        <IconButton icon="download" size="s" label={t('rp.logDownload')} disabled={shown.length === 0} onClick={() => save(`${step ?? 'log'}-${chosen}.log`, 'text/plain', asText(shown))} />
      </div>
      <Lines lines={shown} />
    </div>
  )
}

function Lines({ lines }: { lines: LogLine[] }) {
  if (lines.length === 0) return <div className="fnt t12">{t('rp.logNone')}</div>
  return (
    <>
      {lines.length > SHOWN ? <div className="mut t12 mb-1">{t('rp.logEarlier', { n: lines.length - SHOWN })}</div> : null}
      {lines.slice(-SHOWN).map((line) => (
        <div key={line.id} className="logline">
          <span className="fnt">
            <Time at={line.at} as="time" dated />
          </span>
          <span className={LEVELS[line.level]?.tint ?? 'fnt'}>{LEVELS[line.level]?.word ?? line.level}</span>
          <bdi>{line.text}</bdi>
        </div>
      ))}
    </>
  )
}

const EVERY = '\u0000'

export function LogsTab({ run, logs, said }: { run: Run; logs: LogLine[]; said: Said | undefined }) {
  const [step, setStep] = useState(EVERY)
  const steps = [...new Set(logs.map((line) => line.step))]
  if (logs.length === 0) return <EmptyState icon="paper" title={t('rp.logNone')} detail={t('rp.logNoneDetail')} />
  const shown = logs.filter((line) => step === EVERY || line.step === step)
  return (
    <div className="px-6 py-2.5 max-[719px]:px-4">
      <div className="row mb-2">
        <div className="w-[220px]">
          <Select label={t('rp.step')} value={step} options={[{ value: EVERY, label: t('rp.logAll') }, ...steps.map((each) => ({ value: each, label: titleOf(said, each) }))]} onChange={setStep} />
        </div>
        <span className="grow" />
        <IconButton icon="download" size="s" label={t('rp.logDownload')} onClick={() => save(`${run.id}.log`, 'text/plain', asText(shown))} />
      </div>
      {step === EVERY ? <Lines lines={shown} /> : <LogPart key={step} logs={logs} step={step} said={said} attempt={null} />}
    </div>
  )
}
