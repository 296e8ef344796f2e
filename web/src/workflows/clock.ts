/** The clocks that people write most, in words; others are shown as they are written. */
import { language, t } from '@/messages'

const TWO = (text: string) => text.padStart(2, '0')

/** "Started each day at 02:30", "Started each Monday at 09:00", "Started every 5m"; else what is written. */
export function clockText(cron: string | undefined, every: string | undefined): string {
  if (every) return t('wf.by.every', { what: every })
  const fields = (cron ?? '').trim().split(/\s+/)
  const [minute = '', hour = '', day, month, week = ''] = fields
  const plain = fields.length === 5 && /^\d{1,2}$/.test(minute) && /^\d{1,2}$/.test(hour) && day === '*' && month === '*'
  if (plain && week === '*') return t('wf.by.daily', { time: `${TWO(hour)}:${TWO(minute)}` })
  if (plain && /^[0-7]$/.test(week)) return t('wf.by.weekly', { day: weekday(Number(week)), time: `${TWO(hour)}:${TWO(minute)}` })
  return t('wf.by.schedule', { what: cron ?? '' })
}

/** 0 and 7 are Sunday; 4 January 1970 was one. */
const weekday = (number: number): string => new Intl.DateTimeFormat(language(), { weekday: 'long', timeZone: 'UTC' }).format(new Date(Date.UTC(1970, 0, 4 + (number % 7))))
