/** A definition that somebody brings becomes a draft; what cannot be read says why and where. */
import { ApiError, ask, at, post } from '@/api/client'
import type { Draft } from '@/api/types'
import type { Definition } from '@/diagram/definition'
import { t } from '@/messages'
import { notJson } from '@/ui/json-slip'
import { EMPTY, keyOrder } from '../blank'
import { keep } from '../keep'
import { named } from './list'

export type Brought = { name: string; notes?: string[] } | { taken: string } | { problem: string } | { foreign: Foreign }

/** A text of another engine. */
export interface Foreign {
  text: string
  name: string
}
export const ENGINES = ['zenko', 'viblio', 'pinball'] as const

const MOST = 1024 * 1024

/** Saves a text as the draft of a new workflow; nothing that is there is written over. */
export async function begin(text: string, name: string): Promise<Brought> {
  try {
    const { value } = await ask<Draft>('PUT', at`/api/workflows/${name}`, { text: named(text, name), headers: { 'If-None-Match': '*' } })
    return { name: value.name }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    if (error.status === 412) return { taken: name }
    const [first] = error.errors as { message: string; line?: number | null }[]
    return { problem: first ? (first.line ? t('templates.atLine', { line: first.line, message: first.message }) : first.message) : error.detail }
  }
}

/** Keeps a workflow that has no step yet. False where the server is away or does not let it: it can be drawn all the same. */
export async function beginEmpty(name: string, title: string): Promise<boolean> {
  const definition: Definition = { ...EMPTY(name), ...(title && title !== name ? { title } : {}) }
  try {
    await ask('PUT', at`/api/workflows/${name}`, { json: keyOrder(definition), headers: { 'If-None-Match': '*' } })
    return true
  } catch {
    await keep({ name, definition, etag: null, unsaved: true, past: [], future: [] }) // its title at least
    return false
  }
}

export async function bring(file: File, freeName: (wish: string) => string): Promise<Brought> {
  if (file.size > MOST) return { problem: t('templates.tooLarge', { size: Math.ceil(file.size / 1024) }) }
  const text = await file.text()
  const name = /^\s*"?name"?\s*:\s*"?([A-Za-z0-9_.-]{1,128})"?/m.exec(text)?.[1] ?? file.name.replace(/\.(ya?ml|json)$/i, '').replace(/[^A-Za-z0-9_.-]+/g, '-')
  if (!/^\s*[{"']?\s*"?penstock"?\s*:/m.test(text)) return { foreign: { text, name: freeName(name || 'workflow') } }
  if (text.trimStart().startsWith('{')) return await beginJson(text, freeName(name || 'workflow'))
  return await begin(text, freeName(name || 'workflow'))
}

/** Makes a draft of another engine's text; `notes` say what it does not carry. */
export async function bringForeign({ text, name }: Foreign, kind: (typeof ENGINES)[number]): Promise<Brought> {
  try {
    const made = await post<{ text: string; notes: string[] }>('/api/import', { kind, text, name })
    const begun = await begin(made.text, name)
    return 'name' in begun ? { ...begun, notes: made.notes } : begun
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return { problem: error.errors[0]?.message ?? error.detail }
  }
}

async function beginJson(text: string, name: string): Promise<Brought> {
  try {
    const value = JSON.parse(text) as Record<string, unknown>
    return await begin(JSON.stringify({ ...value, name }), name)
  } catch {
    return { problem: notJson(text) }
  }
}
