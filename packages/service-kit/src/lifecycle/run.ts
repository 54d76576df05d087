import { messageOf } from '../core/errors.ts'
import type { Logger } from '../log/logger.ts'
import { createResources } from './resources.ts'
import { startHint } from './start-hint.ts'

/** The resources of a running service, released in reverse order of their acquisition. */
export type Scope = {
  /** Aborts when the service is asked to stop. */
  readonly signal: AbortSignal
  /** Registers how to release a resource. The name is logged if the release fails. */
  defer(name: string, release: () => Promise<void> | void): void
}

/** The time that a service has to stop before the process exits, in milliseconds. */
export const STOP_DEADLINE_MS = 10_000

/**
 * Runs a service until SIGTERM or SIGINT, then releases all resources and exits.
 *
 * The first signal starts a graceful stop with a deadline, a second one ends the process at once. The exit status is 0 after
 * a clean stop; 1 if the start or a release failed, after an uncaught error, or if the deadline passed; 128 + signal number
 * after a second signal.
 *
 * @param main starts the service and returns when it is up
 * @param options `ignoresSecondSignal` if another process decides when to end this one
 */
export async function run(
  logger: Logger,
  main: (scope: Scope) => Promise<void>,
  { ignoresSecondSignal = false }: { ignoresSecondSignal?: boolean } = {},
): Promise<void> {
  const controller = new AbortController()
  const resources = createResources()
  const state = { stopping: false, failed: false }
  const scope: Scope = {
    signal: controller.signal,
    defer: (name, release) =>
      resources.defer(async () => {
        try {
          await release()
        } catch (error) {
          state.failed = true
          logger.error({ err: error, resource: name }, 'could not release a resource')
        }
      }),
  }

  const stop = async (code: 0 | 1): Promise<void> => {
    state.stopping = true
    const deadline = setTimeout(() => {
      logger.error({ deadlineMs: STOP_DEADLINE_MS }, 'did not stop in time, exiting')
      process.exit(1)
    }, STOP_DEADLINE_MS)
    controller.abort()
    await resources.close()
    clearTimeout(deadline)
    const status = state.failed ? 1 : code
    logger.info({ status }, 'stopped')
    process.exit(status)
  }

  const onSignal = (signal: NodeJS.Signals, number: number): void => {
    if (state.stopping) {
      if (ignoresSecondSignal) return
      logger.warn({ signal }, 'second signal, exiting')
      process.exit(128 + number)
    }
    logger.info({ signal }, 'stopping')
    void stop(0)
  }
  process.on('SIGTERM', () => onSignal('SIGTERM', 15))
  process.on('SIGINT', () => onSignal('SIGINT', 2))
  const onFatal = (error: unknown): void => {
    logger.fatal({ err: error }, 'uncaught error, stopping')
    if (!state.stopping) void stop(1)
  }
  process.on('uncaughtException', onFatal)
  process.on('unhandledRejection', onFatal)

  try {
    await main(scope)
  } catch (error) {
    // After a signal during the start, the failure is a consequence of the stop.
    if (state.stopping) return
    const hint = startHint(error)
    logger.fatal(hint === undefined ? { err: error } : { hint, reason: messageOf(error) }, 'could not start')
    await stop(1)
  }
}
