/** Settings and stores in words. */
import { language, t } from '@/messages'

/** "12 MB". */
export function bytesText(bytes: number, lang: string = language()): string {
  const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte']
  const at = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, bytes)) / 3)))
  return new Intl.NumberFormat(lang, { style: 'unit', unit: units[at], unitDisplay: 'short', maximumFractionDigits: at > 0 ? 1 : 0 }).format(bytes / 1000 ** at)
}

/** Which database it is, where, and how large: "SQLite 3.50, /data/penstock.db, 12 MB". */
export function storeText(store: Record<string, unknown>): string {
  const postgres = store.store === 'postgresql'
  const name = postgres ? 'PostgreSQL' : 'SQLite'
  const version = postgres ? store.version : store.sqlite
  const where = postgres ? store.address : store.path
  return [version === undefined ? name : `${name} ${String(version)}`, where === undefined ? '' : String(where), typeof store.bytes === 'number' ? bytesText(store.bytes) : ''].filter(Boolean).join(', ')
}

/** The value of a setting as people write it. */
export function settingText(value: unknown): string {
  if (value === null || value === undefined || value === '') return t('op.unset')
  if (typeof value === 'boolean') return value ? t('op.yes') : t('op.no')
  if (Array.isArray(value)) return value.length === 0 ? t('op.unset') : value.map(settingText).join(', ')
  if (typeof value === 'object') return Object.keys(value).length === 0 ? t('op.unset') : Object.entries(value).map(([name, each]) => `${name}: ${settingText(each)}`).join(', ')
  return String(value)
}
