/** What a check of a service works with. */
export type Check = {
  /** The URL of the service. */
  url: string
  /** A unique name for everything that this run creates. */
  runId: string
  /** Runs a program in the container of a service. @returns its output @throws with its output, if it fails */
  exec: (service: string, command: string[], input?: string) => string
  /** Reports a fact that holds. */
  ok: (fact: string) => void
  /** Undoes something at the end, in reverse order, whatever happens. */
  later: (what: string, undo: () => unknown) => void
}
