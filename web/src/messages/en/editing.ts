/** What only the editor says. */
import { editor } from './editor'
import findings from './findings.json'
import { inspector } from './inspector'
import { problems } from './problems'
import { publish } from './publish'
import { text } from './text'
import { trying } from './trying'

export const editing = { ...editor, ...findings, ...inspector, ...problems, ...publish, ...trying, ...text }
