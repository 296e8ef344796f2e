/** What is said about the command bar and keys. */
export const commands = {
  'commands.title': 'Search or do',
  'commands.placeholder': 'What do you want to do?',
  'commands.none': 'Nothing is called “{text}”.',
  'commands.go': 'Go to {page}',
  'commands.accessWords': 'access token secret',
  'commands.pages': 'Pages',
  'commands.actions': 'Actions',
  'commands.edit': 'Edit {name}',
  'commands.open': 'Open {name}',
  'commands.new': 'New workflow',
  'commands.theme': 'Appearance: {theme}',
  'keys.change': '{what}: {keys}. Change',
  'keys.press': '{what}: press the new keys',
  'keys.taken': '{keys} is taken: {what}',
  'keys.reset': 'All as they were',
} as const
