import { describe, expect, it } from 'vitest'
import { found, wordsOf } from './find'

describe('commands by a few letters', () => {
  const list = ['Tidy the drawing', 'Try', 'Open “tidings”', 'Publish']

  it('come with the likeliest first', () => {
    expect(found('ti', list, (each) => each)).toEqual(['Tidy the drawing', 'Open “tidings”'])
    expect(found('pbl', list, (each) => each)).toEqual(['Publish'])
  })

  it('are found by what else people call them', () => {
    const pages = [{ label: 'Stoßen' }, { label: 'Zu: Zugang', words: 'Token Geheimnis' }]
    expect(found('token', pages, wordsOf)[0]?.label).toBe('Zu: Zugang')
  })

  it('are all there where nothing is typed', () => {
    expect(found('', list, (each) => each)).toEqual(list)
  })
})
