import type { commands as en } from '../en/commands'

export const commands: Record<keyof typeof en, string> = {
  'commands.title': 'Suchen oder tun',
  'commands.placeholder': 'Was möchten Sie tun?',
  'commands.none': 'Nichts heißt „{text}“.',
  'commands.go': 'Gehe zu {page}',
  'commands.accessWords': 'Token Geheimnis',
  'commands.pages': 'Seiten',
  'commands.actions': 'Aktionen',
  'commands.edit': '{name} bearbeiten',
  'commands.open': '{name} öffnen',
  'commands.new': 'Neuer Ablauf',
  'commands.theme': 'Darstellung: {theme}',
  'keys.change': '{what}: {keys}. Ändern',
  'keys.press': '{what}: neue Tasten drücken',
  'keys.taken': '{keys} ist belegt: {what}',
  'keys.reset': 'Alle wie zuvor',
}
