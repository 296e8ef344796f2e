/** The command bar: every action, every page, every workflow. */
import '../../styles/sides.css'
import { useNavigate } from '@tanstack/react-router'
import { Dialog } from 'radix-ui'
import { useEffect, useMemo, useRef, useState } from 'react'
import { useWorkflows } from '@/api/queries'
import { useRights } from '@/api/rights'
import { type Command, closeCommands, useCommands } from '@/app/commands'
import { MAIN, OPERATE } from '@/app/nav'
import { shownOf } from '@/app/bindings'
import { chooseTheme } from '@/app/theme'
import { chooseLanguage, t } from '@/messages'
import { Icon } from '@/ui'
import { found, wordsOf } from './find'

const PAGES = [...MAIN, ...OPERATE]

export default function CommandBar() {
  const open = useCommands((state) => state.open)
  return (
    <Dialog.Root open={open} onOpenChange={(now) => !now && closeCommands()}>
      <Dialog.Portal>
        <Dialog.Overlay className="veil" />
        <Dialog.Content className="cmdbar" aria-describedby={undefined}>
          <Dialog.Title className="sr">{t('commands.title')}</Dialog.Title>
          {open ? <Bar /> : null}
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  )
}

function useEvery(): Command[] {
  const sets = useCommands((state) => state.sets)
  const workflows = useWorkflows().data
  const { authors } = useRights()
  const navigate = useNavigate()
  return useMemo(() => {
    const go = (to: string) => () => void navigate({ to })
    const actions = Object.values(sets).flat()
    const pages = PAGES.map((page): Command => ({ id: `page ${page.to}`, label: t('commands.go', { page: t(page.text) }), words: page.words && t(page.words), icon: page.icon, group: t('commands.pages'), run: go(page.to) }))
    const lines = (workflows?.items ?? []).flatMap((each): Command[] => {
      const path = `/app/workflows/${encodeURIComponent(each.name)}`
      const title = each.title && each.title !== each.name ? `${each.title} (${each.name})` : each.name
      return [
        { id: `edit ${each.name}`, label: t('commands.edit', { name: title }), icon: 'edit', group: t('nav.workflows'), enabled: authors, run: go(`${path}/edit`) },
        { id: `open ${each.name}`, label: t('commands.open', { name: title }), icon: 'flow', group: t('nav.workflows'), run: go(path) },
      ]
    })
    const own: Command[] = [
      { id: 'new', label: t('commands.new'), icon: 'plus', group: t('commands.actions'), enabled: authors, run: go('/app/new') },
      ...(['light', 'dark', 'system'] as const).map((each): Command => ({ id: `theme ${each}`, label: t('commands.theme', { theme: t(`theme.${each}`) }), icon: each === 'dark' ? 'moon' : 'sun', group: t('commands.actions'), run: () => chooseTheme(each) })),
      { id: 'en', label: 'English', icon: 'text', group: t('commands.actions'), run: () => chooseLanguage('en') },
      { id: 'de', label: 'Deutsch', icon: 'text', group: t('commands.actions'), run: () => chooseLanguage('de') },
    ]
    return [...actions, ...lines, ...pages, ...own].filter((command) => command.enabled !== false)
  }, [sets, workflows, navigate, authors])
}

const MOST = 60

function Bar() {
  const every = useEvery()
  const [text, setText] = useState('')
  const [at, setAt] = useState(0)
  const list = useRef<HTMLDivElement>(null)
  const shown = useMemo(() => found(text, every, wordsOf).slice(0, MOST), [text, every])
  const chosen = Math.min(at, shown.length - 1)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the list follows what is chosen
  useEffect(() => {
    list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' })
  }, [chosen, shown])
  const run = (command: Command | undefined) => {
    if (!command) return
    closeCommands()
    // After the bar has gone: what runs may open a dialog of its own.
    setTimeout(command.run, 0)
  }
  return (
    <>
      <input
        role="combobox"
        aria-expanded="true"
        aria-controls="commands-list"
        aria-activedescendant={shown[chosen] ? `command-${chosen}` : undefined}
        aria-label={t('commands.title')}
        placeholder={t('commands.placeholder')}
        autoComplete="off"
        spellCheck={false}
        value={text}
        onChange={(event) => {
          setText(event.target.value)
          setAt(0)
        }}
        onKeyDown={(event) => {
          const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
          if (by) {
            event.preventDefault()
            setAt((chosen + by + shown.length) % Math.max(1, shown.length))
          }
          if (event.key === 'Enter') {
            event.preventDefault()
            run(shown[chosen])
          }
        }}
      />
      <div ref={list} id="commands-list" role="listbox" aria-label={t('commands.title')} className="min-h-0 flex-1 overflow-auto py-1" tabIndex={-1}>
        {shown.map((command, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the field above
          <div key={command.id} id={`command-${index}`} role="option" aria-selected={index === chosen} tabIndex={-1} onMouseMove={() => setAt(index)} onClick={() => run(command)}>
            {command.icon ? <Icon name={command.icon} size="s" /> : <span className="w-3.5" />}
            <bdi className="grow ell">{command.label}</bdi>
            <span className="cap">{command.group}</span>
            {command.keys ? <kbd className="kbd">{shownOf(command.keys.replaceAll(' ', '+')).replaceAll('+', ' ')}</kbd> : null}
          </div>
        ))}
      </div>
      {shown.length === 0 ? <p className="p-4 t12 mut">{t('commands.none', { text })}</p> : null}
    </>
  )
}
