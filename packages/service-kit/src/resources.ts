import type { Logger } from './logger.ts'

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

/**
 * Opens what a service works with.
 *
 * @param open registers what it opens; when it fails, everything opened before is closed
 * @returns what `open` returns, with `close` for everything
 */
export async function withResources<T extends object>(
  logger: Logger,
  open: (resources: Resources) => Promise<T>,
): Promise<T & { close: () => Promise<void> }> {
  const resources = createResources()
  try {
    return { ...(await open(resources)), close: () => resources.close() }
  } catch (error) {
    await resources.close().catch((err: unknown) => logger.warn({ err }, 'could not close every connection'))
    throw error
  }
}
