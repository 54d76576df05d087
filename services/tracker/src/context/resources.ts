/** What is open and has to be closed. */
export type Resources = {
  /** Registers how a resource is closed, right after it was opened. */
  defer(close: () => Promise<void> | void): void
  /**
   * Closes everything, in the reverse order of opening, also where some of it fails.
   *
   * @throws AggregateError of what failed
   */
  close(): Promise<void>
}

/** An empty list of resources. */
export function createResources(): Resources {
  const closes: (() => Promise<void> | void)[] = []
  return {
    defer: (close) => void closes.push(close),
    close: async () => {
      const errors: unknown[] = []
      for (const close of closes.splice(0).toReversed()) {
        try {
          await close()
        } catch (error) {
          errors.push(error)
        }
      }
      if (errors.length > 0) throw new AggregateError(errors, 'could not close every resource')
    },
  }
}
