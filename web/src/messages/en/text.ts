/** What is said about the text beside the drawing. */
export const text = {
  'text.title': 'Definition',
  'text.label': 'Definition as YAML',
  'text.close': 'Close the text',
  'text.download': 'Download',
  'text.did': 'Edit the text',
  'text.held': 'Line {line}: {why}',
  'text.heldDetail': 'The drawing follows as soon as this can be read.',
  'text.noDefinition': 'This is no definition: “steps” with a step each is missing.',
  'text.goTo': 'Go to line {line}',
  'text.back': 'Take the drawing’s text again',
  'text.replaceTitle': 'What you typed cannot be read yet',
  'text.replaceDetail': 'A change of the drawing writes the text anew, and what you typed is lost.',
  'text.replaceNot': 'Keep the text',
  'text.replace': 'Change the drawing',
} as const
