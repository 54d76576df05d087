import cluster, { type Worker } from 'node:cluster'
import type { Scope } from '@vault-and-tracker/service-kit/lifecycle'
import type { Logger } from '@vault-and-tracker/service-kit/logger'
import { createMetricsReplies } from './workers.metrics.ts'

/** A worker that ends sooner than this after its start is not replaced at once: it would end again. */
const SHORT_LIFE_MS = 5_000
const RESTART_DELAY_MS = 1_000

/** Whether this process is one of several that share the port. */
export function isWorker(): boolean {
  return cluster.isWorker
}

/**
 * Runs the service in several processes that share the port, replaces those that die, and stops them with this one.
 *
 * @returns once all of them listen
 * @throws Error when a worker ends before it listened
 */
export async function startWorkers(scope: Scope, count: number, logger: Logger): Promise<void> {
  // The workers accept connections themselves. Node's other way is that the first process accepts them and passes each
  // on: that costs more than an announce, and those that wait to be passed on are reset when the workers stop.
  cluster.schedulingPolicy = cluster.SCHED_NONE
  const replyWithMetrics = createMetricsReplies(logger)
  const start = (): Worker => {
    const worker = cluster.fork()
    const started = Date.now()
    worker.on('message', (message: unknown) => replyWithMetrics(worker, message))
    // A message to a worker that has just died. Without a listener it would end this process.
    worker.on('error', (error: unknown) =>
      logger.warn({ err: error, worker: worker.process.pid }, 'a worker is not reached'),
    )
    worker.once('exit', (code, signal) => {
      if (scope.signal.aborted) return
      logger.error({ worker: worker.process.pid, code, signal }, 'a worker ended; another one is started')
      setTimeout(
        () => {
          if (!scope.signal.aborted) start()
        },
        Date.now() - started < SHORT_LIFE_MS ? RESTART_DELAY_MS : 0,
      )
    })
    return worker
  }

  scope.defer('workers', stopWorkers)
  await Promise.all(
    Array.from({ length: count }, () => {
      const worker = start()
      return new Promise<void>((resolve, reject) => {
        worker.once('listening', () => resolve())
        worker.once('exit', () => reject(new Error('a worker ended before it listened; its log lines have the reason')))
      })
    }),
  )
}

async function stopWorkers(): Promise<void> {
  const workers = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined)
  await Promise.all(
    workers.map((worker) => {
      const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()))
      worker.process.kill('SIGTERM')
      return ended
    }),
  )
}
