/** One draft was changed in two places: both are shown, and for each thing that differs one of them is kept. */
import { useEffect, useMemo, useState } from 'react'
import type { Definition } from '@/diagram/definition'
import { t } from '@/messages'
import { Button, Dialog, Segments } from '@/ui'
import { edit, settle, useEditor } from '../store'
import { useOther } from '../unsent'
import { type Differing, type Leaf, differing, leavesOf, lineDiff, merged, whoseChange } from './diff'
import { DiffLines } from './lines'

const idOf = (each: Differing): string => `${each.step ? 'step' : 'key'} ${each.key}`

export default function Compare({ onClose }: { onClose: () => void }) {
  const theirs = useEditor((state) => state.theirs)
  const mine = useEditor((state) => state.definition)
  const base = useEditor((state) => state.base)
  const other = theirs?.definition as unknown as Definition | undefined
  const parts = useMemo(() => (other ? differing(other, mine) : []), [other, mine])
  const [chosen, setChosen] = useState<Record<string, 'mine' | 'theirs'>>({})
  const text = useText(mine)
  const { own, who, time } = useOther()
  if (!theirs || !other) return null
  const whose = (each: Differing) => whoseChange(base, mine, other, each)
  const choice = (each: Differing) => chosen[idOf(each)] ?? (whose(each) === 'theirs' ? 'theirs' : 'mine')
  const all = (whose: 'mine' | 'theirs') => setChosen(Object.fromEntries(parts.map((each) => [idOf(each), whose])))
  const keep = () => {
    if (parts.every((each) => choice(each) === 'theirs')) settle('theirs')
    else {
      edit(t('publish.together'), () => merged(mine, other, choice, base))
      settle('mine')
    }
    onClose()
  }
  return (
    <Dialog
      open
      onClose={onClose}
      width={820}
      title={t('editor.compareTitle')}
      detail={own ? t('editor.compareOwn', { time }) : t('editor.compareDetail', { who, time })}
      actions={
        <>
          <Button onClick={onClose}>{t('act.cancel')}</Button>
          <Button kind="primary" onClick={keep}>
            {t('publish.keep')}
          </Button>
        </>
      }
    >
      <div className="col gap-3 t12">
        <div className="row">
          <b className="grow">{t('publish.differs', { n: parts.length })}</b>
          <Button size="s" onClick={() => all('mine')}>
            {t(own ? 'publish.allHere' : 'publish.allMine')}
          </Button>
          <Button size="s" onClick={() => all('theirs')}>
            {t(own ? 'publish.allThere' : 'publish.allTheirs')}
          </Button>
        </div>
        <ul className="col gap-2.5 max-h-[44vh] overflow-auto">
          {parts.map((each) => (
            <li key={idOf(each)} className="differs">
              <span className="grow ell">
                {t(each.step ? 'publish.stepPart' : 'publish.keyPart', { name: each.step ? each.key : partText(each.key) })} <span className="mut">{kindText(each.kind, own)}</span> {whose(each) === 'both' ? <span className="warn">{t('publish.both')}</span> : null}
              </span>
              <Segments
                size="s"
                label={t('publish.whose', { name: each.key })}
                value={choice(each)}
                choices={[
                  { value: 'mine', label: t(own ? 'editor.here' : 'editor.mine') },
                  { value: 'theirs', label: t(own ? 'editor.there' : 'editor.theirs') },
                ]}
                onChange={(whose) => setChosen({ ...chosen, [idOf(each)]: whose })}
              />
              <Values part={each} own={own} chosen={choice(each)} leaves={leavesOf(other, mine, each)} />
            </li>
          ))}
        </ul>
        {text ? (
          <details>
            <summary className="cursor-pointer">{t('publish.asText')}</summary>
            <DiffLines lines={lineDiff(theirs.text, text)} />
          </details>
        ) : null}
      </div>
    </Dialog>
  )
}

const kindText = (kind: Differing['kind'], own: boolean): string => t(kind === 'changed' ? 'publish.changed' : kind === 'added' ? (own ? 'publish.addedHere' : 'publish.added') : own ? 'publish.addedThere' : 'publish.removed')

const MOST = 6
const LONG = 200

const valueText = (value: unknown): string => {
  const text = value === undefined ? t('publish.none') : typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > LONG ? `${text.slice(0, LONG)}…` : text
}

/** Both values of what differs, side by side; the chosen ones are marked. */
function Values({ part, own, chosen, leaves }: { part: Differing; own: boolean; chosen: 'mine' | 'theirs'; leaves: Leaf[] }) {
  const boxes = new Set(leaves.map((leaf) => leaf.path.split('.').slice(0, 2).join('.'))).size
  if (part.key === 'view' && !part.step) return <div className="mut wide">{t('publish.moved', { n: boxes })}</div>
  const cell = (value: unknown, whose: 'mine' | 'theirs') => (
    <td className={`${chosen === whose ? 'on' : ''} ${value === undefined ? 'mut' : 'mono'}`}>
      <bdi>{valueText(value)}</bdi>
    </td>
  )
  return (
    <table className="wide" aria-label={t('publish.what')}>
      <thead>
        <tr>
          <th scope="col">
            <span className="sr">{t('publish.what')}</span>
          </th>
          <th scope="col">{t(own ? 'editor.here' : 'editor.mine')}</th>
          <th scope="col">{t(own ? 'editor.there' : 'editor.theirs')}</th>
        </tr>
      </thead>
      <tbody>
        {leaves.slice(0, MOST).map((leaf) => (
          <tr key={leaf.path}>
            <th scope="row" className="mono">
              <bdi>{leaf.path}</bdi>
            </th>
            {cell(leaf.after, 'mine')}
            {cell(leaf.before, 'theirs')}
          </tr>
        ))}
      </tbody>
      {leaves.length > MOST ? <caption className="mut">{t('publish.moreParts', { n: leaves.length - MOST })}</caption> : null}
    </table>
  )
}

const partText = (key: string): string => (key === 'view' ? t('publish.view') : key)

/** A definition as YAML; what writes it is loaded when it is wanted. */
function useText(definition: Definition): string | null {
  const [text, setText] = useState<string | null>(null)
  useEffect(() => {
    let live = true
    void import('../text/yaml').then(({ toYaml }) => live && setText(toYaml(definition)))
    return () => {
      live = false
    }
  }, [definition])
  return text
}
