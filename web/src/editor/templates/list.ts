/** Workflows to begin with: each is proved, and a test proves it again. */
import autoTag from './auto_tag.yaml?raw'
import mediathread from './mediathread.yaml?raw'
import release from './release.yaml?raw'
import viblio from './viblio.yaml?raw'

export interface Template {
  id: 'mediathread' | 'viblio' | 'auto_tag' | 'release'
  text: string
  steps: number
}

const stepsIn = (text: string): number => [...text.slice(text.indexOf('\nsteps:')).matchAll(/^ {2}[A-Za-z_]+:/gm)].length
const make = (id: Template['id'], text: string): Template => ({ id, text, steps: stepsIn(text) })

export const TEMPLATES: [Template, ...Template[]] = [make('mediathread', mediathread), make('viblio', viblio), make('auto_tag', autoTag), make('release', release)]

/** The text of a definition under another name. */
export const named = (text: string, name: string): string => (/^name:.*$/m.test(text) ? text.replace(/^name:.*$/m, `name: ${name}`) : text)

export const WORKFLOW_NAME = /^[A-Za-z0-9_.-]{1,128}$/

const LETTERS: Record<string, string> = { ä: 'ae', ö: 'oe', ü: 'ue', ß: 'ss', æ: 'ae', ø: 'oe', å: 'aa', œ: 'oe', ł: 'l', đ: 'd' }

/** A name for what somebody called it: its letters without their marks, in small, with lines between the words. */
export function nameFor(title: string): string {
  const plain = [...title.toLowerCase().normalize('NFC')].map((letter) => LETTERS[letter] ?? letter).join('').normalize('NFKD')
  return plain.replace(/[\u0300-\u036f'’]/g, '').replace(/[^a-z0-9_.]+/g, '-').replace(/^[-.]+|[-.]+$/g, '').slice(0, 128).replace(/-+$/, '') || 'workflow'
}

/** A name that is not taken yet. */
export function freeOf(wish: string, taken: readonly string[]): string {
  if (!taken.includes(wish)) return wish
  for (let n = 2; ; n++) if (!taken.includes(`${wish}-${n}`)) return `${wish}-${n}`
}
