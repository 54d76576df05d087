import type { SeenProcess } from './identity.mjs'
import type { Stoppable } from './stop.mjs'

export function rememberProcess(pidFile: string, entry: Stoppable, reaper: SeenProcess): void
export function forgetProcess(pidFile: string, entry: Stoppable): void
/** Says whether there was something to stop. */
export function stopLeftover(pidFile: string): Promise<boolean>
