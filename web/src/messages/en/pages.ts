/** What pages other than the first say. */
import { operations } from './operations'
import { run } from './run'
import { runs } from './runs'
import { workflows } from './workflows'

export const pages = { ...operations, ...run, ...runs, ...workflows }
