import { expect, it } from 'vitest'
import { bytesText, settingText, storeText } from './said'

it('says which store it is, where, and how large', () => {
  expect(storeText({ kind: 'sqlite', path: '/data/p.db', sqlite: '3.50.4', schema: 7, bytes: 12_400_000 })).toBe('SQLite 3.50.4, /data/p.db, 12.4 MB')
  expect(storeText({ store: 'postgresql', version: '16.2', address: 'db.local/penstock', bytes: 900 })).toBe('PostgreSQL 16.2, db.local/penstock, 900 byte')
})

it('says values as people do', () => {
  expect([settingText(null), settingText(true), settingText(['a', 'b']), settingText({ a: { b: 1 } }), settingText({}), settingText('30s')]).toEqual(['not set', 'yes', 'a, b', 'a: b: 1', 'not set', '30s'])
})

it('has few digits', () => {
  expect([bytesText(0, 'en'), bytesText(1500, 'en'), bytesText(2_000_000_000, 'en')]).toEqual(['0 byte', '1.5 kB', '2 GB'])
})
