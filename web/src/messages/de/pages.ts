/** Was andere Seiten als die erste sagen. */
import { operations } from './operations'
import { run } from './run'
import { runs } from './runs'
import { workflows } from './workflows'

export const pages = { ...operations, ...run, ...runs, ...workflows }
