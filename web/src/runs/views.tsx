/** Lists that are kept on the server, for everybody who sees their workflows. */
import { type FormEvent, useState } from 'react'
import { at, del, put } from '@/api/client'
import { useViews } from '@/api/operations'
import { useRights } from '@/api/rights'
import type { View } from '@/api/types'
import { May } from '@/app/may'
import { t } from '@/messages'
import { Button, Field, IconButton, Menu, Popover, TextInput } from '@/ui'
import { useActing } from '@/run/acting'
import { type Filter, filterOf, isEmpty, same } from './filters'

const NEEDS_A_LOOK: Filter = { status: 'failed,stalled,timed_out' }

export function Views({ filter, onChange }: { filter: Filter; onChange: (filter: Filter) => void }) {
  const views = useViews().data?.items ?? []
  const { act } = useActing([['views']])
  const { keepsViews } = useRights()
  const own = views.map((view) => ({ view, filter: filterOf(view.filter) }))
  const current = own.find((each) => same(each.filter, filter))
  return (
    <div className="row flex-wrap gap-1.5">
      <span className="t12 mut pe-2">{t('ru.views')}</span>
      <Pick on={isEmpty(filter)} text={t('ru.allRuns')} onClick={() => onChange({})} />
      <Pick on={same(filter, NEEDS_A_LOOK)} text={t('ru.needsLook')} onClick={() => onChange(NEEDS_A_LOOK)} />
      {own.map((each) => (
        <Pick key={each.view.name} on={same(each.filter, filter)} text={each.view.title ?? each.view.name} onClick={() => onChange(each.filter)} />
      ))}
      <May what="keepsViews">
        <SaveView filter={filter} views={views} />
      </May>
      {current && keepsViews ? (
        <Menu trigger={<IconButton icon="more" label={t('ru.viewMore', { name: current.view.title ?? current.view.name })} />} items={[{ id: 'gone', label: t('ru.viewRemove'), icon: 'trash', danger: true, run: () => void act(() => del(at`/api/views/${current.view.name}`), t('ru.viewRemoved')) }]} />
      ) : null}
    </div>
  )
}

function Pick({ on, text, onClick }: { on: boolean; text: string; onClick: () => void }) {
  return (
    <Button className={on ? 'on' : ''} aria-pressed={on} onClick={onClick}>
      <bdi>{text}</bdi>
    </Button>
  )
}

/** What a view is kept under: two whose titles differ are two, however alike they are. */
export function nameOf(title: string, views: readonly Pick<View, 'name' | 'title'>[]): string {
  const plain = title.toLocaleLowerCase().replace(/[^\p{L}\p{N}]+/gu, '-').replace(/^-|-$/g, '') || 'view'
  const isFree = (name: string) => !views.some((each) => each.name === name && each.title !== title)
  for (let n = 1, name = plain; ; name = `${plain}-${++n}`) if (isFree(name)) return name
}

function SaveView({ filter, views }: { filter: Filter; views: readonly View[] }) {
  const [open, setOpen] = useState(false)
  const [title, setTitle] = useState('')
  const { busy, error, act } = useActing([['views']], true)
  const save = async (event: FormEvent) => {
    event.preventDefault()
    const name = nameOf(title.trim(), views)
    if (await act(() => put(at`/api/views/${name}`, { filter, title: title.trim() }), t('ru.viewSaved'))) {
      setOpen(false)
      setTitle('')
    }
  }
  return (
    <Popover label={t('ru.viewSave')} open={open} onOpenChange={setOpen} trigger={<IconButton icon="plus" label={t('ru.viewSave')} disabled={isEmpty(filter)} />}>
      <form className="col w-[240px] gap-2" onSubmit={(event) => void save(event)}>
        <Field label={t('ru.viewName')} error={error ?? undefined} hint={t('ru.viewHint')}>
          {(ids) => <TextInput {...ids} value={title} onChange={(event) => setTitle(event.target.value)} />}
        </Field>
        <Button type="submit" kind="primary" className="justify-center" busy={busy} disabled={!title.trim()}>
          {t('act.save')}
        </Button>
      </form>
    </Popover>
  )
}
