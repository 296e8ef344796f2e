/** Which picture a task gets: built-in boxes have their own, others by the words in their name. */
import type { IconName } from '@/ui/icons'

const BUILT_IN: Record<string, IconName> = {
  approval: 'person',
  decide: 'decide',
  switch: 'branch',
  tag: 'tag',
  set: 'gear',
  update: 'store',
  terminate: 'stop',
  wait: 'clock',
  workflow: 'flow',
  service: 'queue',
  emit: 'token',
  mail: 'mail',
  http: 'web',
  shell: 'text',
  fail: 'cross',
}

const WORDS: [RegExp, IconName][] = [
  [/mail/, 'mail'],
  [/face/, 'face'],
  [/thumb|image|picture|photo|poster/, 'picture'],
  [/copy|mirror|clone/, 'copy'],
  [/submit|send|notify|publish|tell/, 'send'],
  [/metadata|text|parse|read|extract/, 'task'],
  [/video|encode|transcode|et_job|film|audio/, 'film'],
  [/http|fetch|download|call/, 'web'],
  [/store|save|write|index|archive/, 'store'],
]

export function iconOf(task: string): IconName {
  const own = BUILT_IN[task]
  if (own) return own
  const name = task.toLowerCase().split('.').at(-1) ?? ''
  return WORDS.find(([word]) => word.test(name))?.[1] ?? 'task'
}
