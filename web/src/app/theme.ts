/** Light, dark, or as the system is. */
export type Theme = 'light' | 'dark' | 'system'

const KEY = 'penstock.theme'

export function theme(): Theme {
  const kept = localStorage.getItem(KEY)
  return kept === 'light' || kept === 'dark' ? kept : 'system'
}

/** Puts the choice in force; a `?theme=` in the address wins, for pictures. */
export function applyTheme(): void {
  const asked = new URLSearchParams(location.search).get('theme')
  const chosen = asked === 'light' || asked === 'dark' ? asked : theme()
  if (chosen === 'system') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = chosen
}

export function chooseTheme(chosen: Theme): void {
  localStorage.setItem(KEY, chosen)
  applyTheme()
}
