import { expect, it } from 'vitest'
import { spokenOffers, translated } from './boxes'
import german from './de/boxes.json'

const MAIL = {
  name: 'mail',
  kind: 'built-in',
  doc: 'Send a mail through the mail server of the installation.',
  parameters: { type: 'object', required: ['to'], properties: { to: { title: 'To', type: 'string', default: 'To' }, subject: { title: 'Subject' }, title: { title: 'Of tomorrow', description: 'one address or several' } } },
}

it('says titles and descriptions in other words, and changes nothing else', () => {
  expect(translated(MAIL, german)).toEqual({
    ...MAIL,
    doc: 'Sendet eine Mail über den Mailserver der Installation.',
    parameters: { type: 'object', required: ['to'], properties: { to: { title: 'An', type: 'string', default: 'To' }, subject: { title: 'Betreff' }, title: { title: 'Of tomorrow', description: 'eine Adresse oder mehrere' } } },
  })
})

it('leaves them where the reader reads English', async () => {
  expect(await spokenOffers([MAIL])).toEqual([MAIL])
})
