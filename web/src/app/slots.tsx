/** Places where other parts of the program come in, so that the shell need not know them. */
import { part } from './part'

/** The command bar (Ctrl K); a page is of use without it. */
export const CommandBar = part(() => import('@/editor/commands/bar'), () => null)
