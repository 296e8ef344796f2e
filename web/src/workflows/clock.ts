/** The clocks that people write most, in words; others are shown as they are written. */
import { language, t } from '@/messages'
import { spanText } from '@/ui/times'

type Shape = 'daily' | 'weekly' | 'workdays' | 'monthly' | 'hourly' | 'every' | 'schedule'

const ALIASES: Record<string, string> = { '@hourly': '0 * * * *', '@daily': '0 0 * * *', '@midnight': '0 0 * * *', '@weekly': '0 0 * * 0', '@monthly': '0 0 1 * *' }
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']
const TWO = (text: string) => text.padStart(2, '0')
const isNumber = (text: string) => /^\d{1,2}$/.test(text)

/** Where it is said: on the card of a workflow, or in a list of clocks. */
type Place = 'wf.by' | 'op.by'

/** "Started each day at 02:30", "each Monday at 09:00", "every 5 min"; else what is written. */
export function clockText(cron: string | undefined, every: string | undefined, place: Place = 'wf.by'): string {
  const { shape, values } = every ? { shape: 'every' as const, values: { what: spanText(every) } } : cronOf((cron ?? '').trim())
  return t(`${place}.${shape}`, values)
}

/** Whether words can be found for a clock here. */
export const isCommon = (cron: string | undefined, every: string | undefined): boolean => every !== undefined || cronOf((cron ?? '').trim()).shape !== 'schedule'

function cronOf(written: string): { shape: Shape; values: Record<string, string> } {
  const fields = (ALIASES[written] ?? written).split(/\s+/)
  const [minute = '', hour = '', day = '', month = '', week = ''] = fields
  const time = `${TWO(hour)}:${TWO(minute)}`
  const other = { shape: 'schedule' as const, values: { what: written } }
  if (fields.length !== 5 || month !== '*') return other
  const often = /^\*\/(\d{1,2})$/.exec(minute)?.[1]
  if (often && 60 % Number(often) === 0 && hour === '*' && day === '*' && week === '*') return { shape: 'every', values: { what: spanText(`${often}m`) } }
  if (isNumber(minute) && hour === '*' && day === '*' && week === '*') return { shape: 'hourly', values: { minute: `:${TWO(minute)}` } }
  if (!isNumber(minute) || !isNumber(hour)) return other
  if (isNumber(day) && week === '*') return { shape: 'monthly', values: { day: String(Number(day)), time } }
  if (day !== '*') return other
  if (week === '*') return { shape: 'daily', values: { time } }
  if (/^(1-5|mon-fri)$/i.test(week)) return { shape: 'workdays', values: { time } }
  const number = /^[0-7]$/.test(week) ? Number(week) : DAYS.indexOf(week.toLowerCase())
  return number >= 0 ? { shape: 'weekly', values: { day: weekday(number), time } } : other
}

/** 0 and 7 are Sunday; 4 January 1970 was one. */
const weekday = (number: number): string => new Intl.DateTimeFormat(language(), { weekday: 'long', timeZone: 'UTC' }).format(new Date(Date.UTC(1970, 0, 4 + (number % 7))))
