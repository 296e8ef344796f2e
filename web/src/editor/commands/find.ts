/** Which commands somebody means by a few letters, the likeliest first. */

/** How well a text fits: all letters in order; beginnings of words and letters side by side count more. Null: not at all. */
export function fit(wanted: string, text: string): number | null {
  const [low, full] = [wanted.toLowerCase().trim(), text.toLowerCase()]
  if (!low) return 0
  const whole = full.indexOf(low)
  if (whole >= 0) return 1000 - whole + (whole === 0 || full[whole - 1] === ' ' ? 500 : 0) - full.length / 100
  let at = -1
  let score = 0
  for (const letter of low.replaceAll(' ', '')) {
    const next = full.indexOf(letter, at + 1)
    if (next < 0) return null
    score += next === at + 1 ? 5 : full[next - 1] === ' ' ? 4 : 0
    score -= Math.min(5, next - at) / 10
    at = next
  }
  return score
}

export function found<T>(wanted: string, list: readonly T[], text: (each: T) => string): T[] {
  return list
    .map((each, index) => ({ each, index, score: fit(wanted, text(each)) }))
    .filter((each): each is typeof each & { score: number } => each.score !== null)
    .sort((one, two) => two.score - one.score || one.index - two.index)
    .map(({ each }) => each)
}

/** What a command is looked for by: its label, and what else people call it. */
export const wordsOf = (command: { label: string; words?: string }): string => (command.words ? `${command.label} ${command.words}` : command.label)
