/** The context of a check. */
export type Check = {
  /** The URL of the service. */
  url: string
  /** A unique name for everything that this run creates. */
  runId: string
  /** Runs a program in the container of a service. @returns its output @throws with its output, if it fails */
  exec: (service: string, command: string[], input?: string) => string
  /** Reports a passed check. */
  ok: (fact: string) => void
  /** Registers a cleanup step. The steps run at the end in reverse order, even after a failure. */
  later: (what: string, undo: () => unknown) => void
}
