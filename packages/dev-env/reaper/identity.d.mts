/** A process as it was once seen: its number, and what tells it from a later process with the same number. */
export interface SeenProcess {
  pid: number
  identity: string
}

export function identityOf(pid: number): string | undefined
export function isSameProcess(seen: SeenProcess): boolean
export function descendantsOf(root: number): number[]
