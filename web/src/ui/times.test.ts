import { describe, expect, it } from 'vitest'
import { agoText, datedText, durationText, spanText, timeText } from './times'

describe('durations', () => {
  it('have two units at most', () => {
    const texts = [320, 1900, 72_000, 1_440_000, 12_240_000, 90_000_000].map((each) => durationText(each, 'en'))
    expect(texts).toEqual(['320 ms', '1.9 s', '72 s', '24 min', '3 h 24 min', '1 day 1 h'])
  })

  it('of definitions are said in words where these lose nothing', () => {
    const texts = ['500ms', '90s', '15m', '10h', '2d', '30', '101s', '1.55s', '1441m', 'soon'].map((each) => spanText(each, 'de'))
    expect(texts).toEqual(['500 ms', '90 s', '15 min', '10 h', '2 Tage', '30 s', '101s', '1.55s', '1441m', 'soon'])
  })
})

describe('moments', () => {
  it('have units as signs, so that a sentence may end with them', () => {
    const ago = (lang: string) => [5_000, 180_000, 7_200_000].map((gone) => agoText(0, gone, lang))
    expect(ago('en')).toEqual(['5 s ago', '3 min ago', '2 h ago'])
    expect(ago('de')).toEqual(['vor 5 s', 'vor 3 min', 'vor 2 h'])
  })

  it('are of the clock of the reader, with the day where it is another', () => {
    const at = '2026-11-16T12:25:43.095053Z'
    expect(timeText(at, new Date(at).getTime())).toMatch(/^\d\d:25:43$/)
    expect(timeText(at, new Date('2026-11-18T12:00:00Z').getTime())).toMatch(/Nov.*25:43/)
    expect(timeText('2d')).toBe('2d')
  })

  it('of another day say it in few letters where they are dated', () => {
    const at = '2026-11-16T12:25:43Z'
    expect(datedText(at, 'time', new Date(at).getTime())).toMatch(/^\d\d:25:43$/)
    expect(datedText(at, 'minute', new Date('2026-11-18T12:00:00Z').getTime())).toMatch(/^(Nov 16|16 Nov) \d\d:25$/)
  })

  it('that have just been are not to come, though another clock says so', () => {
    expect([agoText(2_000, 0, 'en'), agoText(60_000, 0, 'en')]).toEqual(['now', 'in 1 min'])
  })
})
