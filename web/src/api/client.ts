/** Talks to the server: JSON both ways, and every refusal as an ApiError with the server's own sentence. */

export interface Misfit {
  path: string
  code: string
  message: string
}

export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    readonly detail: string,
    readonly errors: Misfit[] = [],
    readonly body: Record<string, unknown> = {},
  ) {
    super(detail)
    this.name = 'ApiError'
  }

  /** Nobody answered: the server is away, or the network is. */
  get away(): boolean {
    return this.status === 0
  }
}

/** What is wrong by field of a form, where the body has the form at `top`: `/input/n/0` is about `n`. */
export function byField(errors: readonly Misfit[], top: string): Record<string, string> {
  const found: Record<string, string> = {}
  for (const each of errors) {
    const [, place, name = ''] = each.path.split('/')
    const field = place === top ? name.replaceAll('~1', '/').replaceAll('~0', '~') : ''
    found[field] ??= each.message
  }
  return found
}

export interface Answer<T> {
  value: T
  status: number
  etag: string | null
}

export interface Options {
  json?: unknown
  text?: string
  type?: string
  accept?: string
  headers?: Record<string, string>
  signal?: AbortSignal
  /** It is to arrive though the page may be closed before it is answered. */
  outlives?: boolean
}

type Listener = (state: 'away' | 'here' | 'unauthenticated') => void
const listeners = new Set<Listener>()

/** Be told when the server goes, comes, or wants a sign-in. */
export function onReach(listener: Listener): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export function reached(state: 'away' | 'here' | 'unauthenticated'): void {
  for (const listener of listeners) listener(state)
}

/** Whoever leaves the page must not take with them what was just asked for. */
let leaving = false
/** More than this a browser does not send for a page that is gone. */
const MOST_LEFT = 60_000
globalThis.addEventListener?.('pagehide', () => {
  leaving = true
})
globalThis.addEventListener?.('pageshow', () => {
  leaving = false
})

/** Asks the server. Raises ApiError. */
export async function ask<T>(method: string, path: string, options: Options = {}): Promise<Answer<T>> {
  const headers: Record<string, string> = { 'X-Penstock': '1', Accept: options.accept ?? 'application/json', ...options.headers }
  let body: string | undefined
  if (options.json !== undefined) {
    body = JSON.stringify(options.json)
    headers['Content-Type'] = 'application/json'
  } else if (options.text !== undefined) {
    body = options.text
    headers['Content-Type'] = options.type ?? 'application/yaml'
  }
  let response: Response
  try {
    response = await fetch(path, { method, headers, body, signal: options.signal, credentials: 'same-origin', keepalive: (leaving || options.outlives === true) && isSmall(body) })
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error
    reached('away')
    throw new ApiError(0, 'away', 'The server did not answer.')
  }
  reached(response.status === 401 ? 'unauthenticated' : 'here')
  if (!response.ok) throw await refusal(response)
  const type = response.headers.get('content-type') ?? ''
  const value = response.status === 204 ? undefined : type.includes('json') ? await response.json() : await response.text()
  return { value: value as T, status: response.status, etag: response.headers.get('etag') }
}

const isSmall = (body: string | undefined): boolean => body === undefined || new Blob([body]).size < MOST_LEFT

async function refusal(response: Response): Promise<ApiError> {
  try {
    const body = (await response.json()) as Record<string, unknown>
    const errors = Array.isArray(body.errors) ? (body.errors as Misfit[]) : []
    return new ApiError(response.status, String(body.code ?? response.status), detailOf(body), errors, body)
  } catch {
    return new ApiError(response.status, 'unreadable', `The server answered ${response.status}.`)
  }
}

/** What was wrong: the server's own sentence, or those of the fields that it names, as the release coordinator does. */
export function detailOf(body: Record<string, unknown>): string {
  if (body.detail !== undefined || body.title !== undefined) return String(body.detail ?? body.title)
  return Object.entries(body)
    .flatMap(([name, said]) => (Array.isArray(said) ? said.map((each) => (name === 'non_field_errors' ? String(each) : `${name}: ${each}`)) : []))
    .join('\n')
}

export const get = async <T>(path: string, signal?: AbortSignal): Promise<T> => (await ask<T>('GET', path, { signal })).value
export const post = async <T>(path: string, json: unknown = {}): Promise<T> => (await ask<T>('POST', path, { json })).value
export const put = async <T>(path: string, json: unknown): Promise<T> => (await ask<T>('PUT', path, { json })).value
export const patch = async <T>(path: string, json: unknown): Promise<T> => (await ask<T>('PATCH', path, { json })).value
export const del = async <T>(path: string): Promise<T> => (await ask<T>('DELETE', path)).value

/** A path with its names safely in it: `at`/api/runs/${id}/why``. */
export function at(parts: TemplateStringsArray, ...values: (string | number)[]): string {
  return parts.reduce((path, part, index) => path + encodeURIComponent(String(values[index - 1])) + part)
}

/** The query of a request; what is empty is left out. */
export function query(values: Record<string, string | number | boolean | string[] | undefined | null>): string {
  const found = new URLSearchParams()
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)) continue
    found.set(name, Array.isArray(value) ? value.join(',') : String(value))
  }
  const text = found.toString()
  return text ? `?${text}` : ''
}
