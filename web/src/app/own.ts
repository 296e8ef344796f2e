/** What somebody chooses for themselves: the theme, the language, to leave. */
import { del } from '@/api/client'
import { cache, useWho } from '@/api/queries'
import { chooseLanguage, language, t } from '@/messages'
import type { MenuItem } from '@/ui/overlays'
import { chooseTheme, theme } from './theme'

const signOut = () => void del('/api/session').then(() => cache.clear()).then(() => location.reload())

export function useOwnItems(): MenuItem[] {
  const who = useWho().data
  const chosen = theme()
  return [
    ...(['light', 'dark', 'system'] as const).map((each, at) => ({ id: each, label: t(`theme.${each}`), checked: each === chosen, separated: at === 0, run: () => chooseTheme(each) })),
    ...(['en', 'de'] as const).map((each, at) => ({ id: each, label: each === 'en' ? 'English' : 'Deutsch', checked: language() === each, separated: at === 0, run: () => chooseLanguage(each) })),
    ...(who?.signed_in ? [{ id: 'out', label: t('shell.signOut'), separated: true, run: signOut }] : []),
  ]
}
