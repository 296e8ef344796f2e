/** How a box looks just now, apart from what it is: states of a run, tokens, findings, play marks. */

export interface StepLook {
  status: string
  attempts?: number
  firings?: number
  progress?: number | null
  /** What to say in place of the word: "Attempt 3 · 64 %", "Complete · 72 s". */
  text?: string
}

export interface BoxLook {
  state?: StepLook
  /** How many tokens each pin holds, by pin; `part` where a slot has some and needs more. */
  tokens?: Record<string, { count: number; part?: boolean; bad?: boolean }>
  finding?: 'error' | 'warning' | 'info'
  playable?: boolean
  dim?: boolean
  bad?: boolean
  lit?: boolean
  /** 0 to 1, with what it means. */
  heat?: { share: number; text: string }
}

export const PLAIN: BoxLook = {}

/** The half second line of a box in a run: progress and attempt win over duration. */
export function stateText(look: StepLook, words: { attempt: (n: number) => string; tries: (n: number) => string }, word: string): string {
  if (look.text) return look.text
  if (look.status === 'running') {
    const parts = [...((look.attempts ?? 1) > 1 ? [words.attempt(look.attempts ?? 1)] : []), ...(look.progress != null ? [`${Math.round(look.progress * 100)} %`] : [])]
    return parts.length > 0 ? parts.join(' · ') : word
  }
  if (look.status === 'failed' && (look.attempts ?? 1) > 1) return `${word} · ${words.tries(look.attempts ?? 1)}`
  return word
}
