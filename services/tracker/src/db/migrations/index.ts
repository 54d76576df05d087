import type { Migration } from 'kysely'
import { up as init } from './0001-init.ts'

/** Every migration by name. They run in alphabetical order, forward only; a released one is never edited. */
export const migrations: Readonly<Record<string, Migration>> = {
  '0001-init': { up: init },
}
