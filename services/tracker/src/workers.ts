import cluster, { type Worker } from 'node:cluster'
import { type Scope, STOP_DEADLINE_MS } from '@vault-and-tracker/service-kit/lifecycle/run'
import type { Logger } from '@vault-and-tracker/service-kit/log/logger'
import { askPrimary } from './primary.ts'
import { createWorkersMetrics } from './workers.metrics.ts'

/** A worker that ends sooner than this is replaced after a delay, because its successor will probably end too. */
const SHORT_LIFE_MS = 5_000
const RESTART_DELAY_MS = 1_000

/** Workers still running this long before the primary process must end are killed, because they would keep the port. */
const KILL_BEFORE_END_MS = 500
/** Sent by a worker before it stops accepting connections. */
const MAY_LEAVE = 'tracker:may-leave'
/** The answers of the primary process. */
const OTHERS_ACCEPT = 'tracker:others-accept'
const IS_LAST = 'tracker:is-last'
/** After this time without an answer, the primary process is considered ended or blocked. */
const ANSWER_MS = 1_000

/** Whether this process is a worker. */
export function isWorker(): boolean {
  return cluster.isWorker
}

/** Whether this process does what is done once per start of the service: the only one, or the first worker. */
export function isFirstProcess(): boolean {
  return !cluster.isWorker || cluster.worker?.id === 1
}

/**
 * Asks the primary process whether other workers keep accepting connections. Call it before this worker stops accepting
 * them. If several workers ask at the same time, one of them is the last. False outside workers.
 */
export async function othersAccept(): Promise<boolean> {
  if (!cluster.isWorker) return false
  const answerOf = (message: unknown): boolean | undefined =>
    message === OTHERS_ACCEPT || message === IS_LAST ? message === OTHERS_ACCEPT : undefined
  return askPrimary(MAY_LEAVE, answerOf, ANSWER_MS, false)
}

/**
 * Runs the service in several processes that share the port, replaces those that end, and stops them with this one.
 *
 * @returns once all of them listen
 * @throws Error if a worker ends before it listens
 */
export async function startWorkers(scope: Scope, count: number, logger: Logger): Promise<void> {
  // The workers accept connections themselves. With Node's default, the primary process accepts and forwards them, which
  // costs more than an announce, and connections waiting to be forwarded are reset when the workers stop.
  cluster.schedulingPolicy = cluster.SCHED_NONE
  const metrics = createWorkersMetrics(logger)
  let areUp = false
  const accepting = new Set<Worker>()
  /** The last worker to stop accepting shortens the queue of the port, so no other worker may be using it. */
  const letLeave = (worker: Worker): void => {
    const isLast = accepting.size <= 1 || !accepting.delete(worker)
    worker.send(isLast ? IS_LAST : OTHERS_ACCEPT)
  }
  const start = (): Worker => {
    const worker = cluster.fork()
    const started = Date.now()
    worker.once('listening', () => {
      accepting.add(worker)
      metrics.add(worker)
    })
    worker.on('message', (message: unknown) => {
      if (message === MAY_LEAVE) letLeave(worker)
      else metrics.receive(worker, message)
    })
    // Emitted for a message to a worker that has just ended. Without a listener it would end this process.
    worker.on('error', (error: unknown) =>
      logger.warn({ err: error, worker: worker.process.pid }, 'could not reach a worker'),
    )
    worker.once('exit', (code, signal) => {
      accepting.delete(worker)
      void metrics.ended(worker)
      // A worker that ends before all are up fails the start.
      if (scope.signal.aborted || !areUp) return
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
        worker.once('exit', () => reject(new Error('a worker ended before it listened; see its log for the reason')))
      })
    }),
  )
  areUp = true
}

/** @throws Error if a worker did not end cleanly */
async function stopWorkers(): Promise<void> {
  const workers = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined)
  const ended = workers.map(
    (worker) =>
      new Promise<boolean>((resolve) =>
        // A worker without its signal handlers yet ends by our SIGTERM, or by Ctrl-C in a terminal.
        worker.once('exit', (code, signal) => resolve(code === 0 || signal === 'SIGTERM' || signal === 'SIGINT')),
      ),
  )
  for (const worker of workers) worker.process.kill('SIGTERM')
  const deadline = setTimeout(() => {
    for (const worker of workers) worker.process.kill('SIGKILL')
  }, STOP_DEADLINE_MS - KILL_BEFORE_END_MS)
  const areClean = await Promise.all(ended)
  clearTimeout(deadline)
  if (areClean.includes(false)) throw new Error('a worker did not end cleanly; see its log for the reason')
}
