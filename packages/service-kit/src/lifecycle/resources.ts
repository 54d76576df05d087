import type { Logger } from '../log/logger.ts'

/** Open resources that must be closed. */
export type Resources = {
  /** Registers how to close a resource, right after it was opened. */
  defer(close: () => Promise<void> | void): void
  /** Closes everything in reverse order, even if some of it fails. @throws AggregateError of all failures */
  close(): Promise<void>
}

/** An empty list of resources. */
export function createResources(): Resources {
  const closes: (() => Promise<void> | void)[] = []
  return {
    defer: (close) => void closes.push(close),
    close: () => runAll(closes.splice(0).toReversed(), 'could not close every resource'),
  }
}

/** Runs all steps in order, even if some of them fail. @throws AggregateError of all failures */
export async function runAll(steps: readonly (() => Promise<void> | void)[], message: string): Promise<void> {
  const errors: unknown[] = []
  for (const step of steps) {
    try {
      await step()
    } catch (error) {
      errors.push(error)
    }
  }
  if (errors.length > 0) throw new AggregateError(errors, message)
}

/**
 * Opens the resources of a service.
 *
 * @param open registers what it opens; if it fails, everything opened before is closed
 * @returns the result of `open`, with `close` for everything
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
