import type { text as en } from '../en/text'

export const text: Record<keyof typeof en, string> = {
  'text.title': 'Definition',
  'text.label': 'Definition als YAML',
  'text.close': 'Text schließen',
  'text.download': 'Herunterladen',
  'text.did': 'Text ändern',
  'text.held': 'Zeile {line}: {why}',
  'text.heldDetail': 'Die Zeichnung folgt, sobald das lesbar ist.',
  'text.noDefinition': 'Das ist keine Definition: „steps“ mit Schritten fehlt.',
  'text.goTo': 'Zu Zeile {line}',
  'text.back': 'Wieder den Text der Zeichnung',
  'text.replaceTitle': 'Was Sie getippt haben, ist noch nicht lesbar',
  'text.replaceDetail': 'Eine Änderung der Zeichnung schreibt den Text neu, und das Getippte geht verloren.',
  'text.replaceNot': 'Text behalten',
  'text.replace': 'Zeichnung ändern',
}
