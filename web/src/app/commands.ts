/** Commands are objects that feed the menu, the keyboard and the command bar at once; pages add theirs while they are shown. */
import { useEffect } from 'react'
import { create } from 'zustand'
import type { IconName } from '@/ui/icons'

export interface Command {
  id: string
  label: string
  /** What else it is looked for by. */
  words?: string
  keys?: string
  icon?: IconName
  group?: string
  enabled?: boolean
  run: () => void
}

interface Commands {
  open: boolean
  sets: Record<string, Command[]>
}

export const useCommands = create<Commands>(() => ({ open: false, sets: {} }))

export const openCommands = () => useCommands.setState({ open: true })
export const closeCommands = () => useCommands.setState({ open: false })

/** Offers commands as long as the caller is shown. */
export function useOffer(name: string, commands: Command[]): void {
  useEffect(() => {
    useCommands.setState(({ sets }) => ({ sets: { ...sets, [name]: commands } }))
    return () =>
      useCommands.setState(({ sets }) => {
        const { [name]: _gone, ...rest } = sets
        return { sets: rest }
      })
  }, [name, commands])
}
