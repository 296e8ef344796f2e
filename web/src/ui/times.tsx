import { useEffect, useState } from 'react'
import { language } from '@/messages'

const DAY = 86_400_000
/** Two clocks differ by so much, and a page looks at its own only so often: what just happened is not to come. */
const SKEW = 15_000

const units = new Map<string, Intl.NumberFormat>()

function unitFormat(lang: string, unit: string, digits: number): Intl.NumberFormat {
  const key = `${lang} ${unit} ${digits}`
  const found = units.get(key) ?? new Intl.NumberFormat(lang, { style: 'unit', unit, unitDisplay: unit === 'day' ? 'long' : 'short', maximumFractionDigits: digits })
  units.set(key, found)
  return found
}

/** Units as signs, which take no full stop: a sentence may end with one. */
const shortened = (text: string): string => text.replace(/(?:hr|Std)\b\.?/, 'h').replace(/[Mm]in\b\.?/, 'min').replace(/(?:sec|Sek)\b\.?/, 's')

/** "1.9 s", "24 min", "3 h 24 min": two units at most. */
export function durationText(milliseconds: number, lang: string = language()): string {
  const unit = (value: number, name: 'millisecond' | 'second' | 'minute' | 'hour' | 'day', digits = 0) =>
    shortened(unitFormat(lang, name, digits).format(value))
  const seconds = milliseconds / 1000
  if (milliseconds < 1000) return unit(Math.round(milliseconds), 'millisecond')
  if (seconds < 10) return unit(seconds, 'second', 1)
  if (seconds < 100) return unit(Math.round(seconds), 'second')
  const minutes = Math.round(seconds / 60)
  if (minutes < 60) return unit(minutes, 'minute')
  const hours = Math.floor(minutes / 60)
  if (hours < 24) return [unit(hours, 'hour'), ...(minutes % 60 ? [unit(minutes % 60, 'minute')] : [])].join(' ')
  const days = Math.floor(hours / 24)
  return [unit(days, 'day'), ...(hours % 24 ? [unit(hours % 24, 'hour')] : [])].join(' ')
}

const SIZES: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: DAY }
/** From how long on durations are told no finer than that. */
const GRAINS = [[DAY, 3_600_000], [100_000, 60_000], [10_000, 1000], [1000, 100], [0, 1]] as const

/** A duration as definitions write it ("90s", "15m", or seconds), in words where these lose nothing; what is none stays as it is. */
export function spanText(written: string, lang: string = language()): string {
  const [, amount, unit = 's'] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)?$/.exec(written) ?? []
  const milliseconds = Number(amount) * (SIZES[unit] ?? Number.NaN)
  const grain = GRAINS.find(([from]) => milliseconds >= from)?.[1] ?? Number.NaN
  return milliseconds % grain === 0 ? durationText(milliseconds, lang) : written
}

/** Up to a day ago in words, then the date. */
export function agoText(at: number, now: number, lang: string = language()): string {
  const ahead = at - now
  const gone = ahead > 0 && ahead < SKEW ? 0 : -ahead
  if (Math.abs(gone) >= DAY) return new Intl.DateTimeFormat(lang, { dateStyle: 'medium' }).format(at)
  const relative = new Intl.RelativeTimeFormat(lang, { numeric: 'auto', style: 'short' })
  const said = (each: number, unit: 'second' | 'minute' | 'hour') => shortened(relative.format(-Math.round(gone / each), unit))
  if (Math.abs(gone) < 60_000) return said(1_000, 'second')
  if (Math.abs(gone) < 3_600_000) return said(60_000, 'minute')
  return said(3_600_000, 'hour')
}

/** The time now, changing every so often. */
export function useNow(every = 10_000): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), every)
    return () => clearInterval(timer)
  }, [every])
  return now
}

const FORMS: Record<string, Intl.DateTimeFormatOptions> = {
  time: { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' },
  minute: { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' },
  day: { day: 'numeric', month: 'short' },
  date: { dateStyle: 'medium' },
  full: { dateStyle: 'medium', timeStyle: 'medium', hourCycle: 'h23' },
  whole: { dateStyle: 'full', timeStyle: 'long' },
}

const formats = new Map<string, Intl.DateTimeFormat>()

/** Making one of these takes longer than a hundred uses of it. */
function formatOf(name: keyof typeof FORMS): Intl.DateTimeFormat {
  const key = `${language()} ${name}`
  const found = formats.get(key) ?? new Intl.DateTimeFormat(language(), FORMS[name])
  formats.set(key, found)
  return found
}

/** A moment of the reader's clock, with the day where that is not today; what is no moment stays as it is. */
export function timeText(at: string, now: number = Date.now()): string {
  const moment = new Date(at)
  if (Number.isNaN(moment.getTime()) || !/^\d{4}-/.test(at)) return at
  return formatOf(new Date(now).toDateString() === moment.toDateString() ? 'time' : 'full').format(moment)
}

/** Hours and minutes of the reader's clock, with the day where that is not today. */
export function clockText(at: string, now: number = Date.now()): string {
  const moment = new Date(at)
  return formatOf(new Date(now).toDateString() === moment.toDateString() ? 'minute' : 'full').format(moment)
}

/** A moment of the reader's clock with its day, in few letters, where that is not today. */
export function datedText(at: string, as: 'time' | 'minute', now: number = Date.now()): string {
  const moment = new Date(at)
  const clock = formatOf(as).format(moment)
  return new Date(now).toDateString() === moment.toDateString() ? clock : `${formatOf('day').format(moment)} ${clock}`
}

/** A moment in local time; hover and focus show the full date and UTC. What is `dated` says the day where that is not today. */
export function Time({ at, as = 'full', dated = false }: { at: string; as?: 'time' | 'minute' | 'date' | 'full' | 'ago'; dated?: boolean }) {
  const moment = new Date(at)
  const young = Date.now() - moment.getTime() < 60_000 // told in seconds
  const now = useNow(as !== 'ago' ? 3_600_000 : young ? 1000 : 10_000)
  const full = `${formatOf('whole').format(moment)}\n${moment.toISOString()} UTC`
  const text = as === 'ago' ? agoText(moment.getTime(), now) : dated && (as === 'time' || as === 'minute') ? datedText(at, as, now) : formatOf(as).format(moment)
  return (
    <time dateTime={at} title={full}>
      {text}
    </time>
  )
}

/** How long something took, or has taken so far. */
export function Duration({ from, to }: { from: string; to?: string | null }) {
  const now = useNow(1000)
  const end = to ? new Date(to).getTime() : now
  return <span>{durationText(Math.max(0, end - new Date(from).getTime()))}</span>
}
