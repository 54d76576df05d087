import cluster, { type Worker } from 'node:cluster'
import { type Scope, STOP_DEADLINE_MS } from '@vault-and-tracker/service-kit/lifecycle/run'
import type { Logger } from '@vault-and-tracker/service-kit/log/logger'
import { askFirstProcess } from './first-process.ts'
import { createWorkersMetrics } from './workers.metrics.ts'

/** A worker that ends sooner than this after its start is not replaced at once: it would end again. */
const SHORT_LIFE_MS = 5_000
const RESTART_DELAY_MS = 1_000

/** A worker that has not ended so long before the first process has to is killed: it would keep the port. */
const KILL_BEFORE_END_MS = 500
/** What a worker asks that is about to accept no more connections, ... */
const MAY_LEAVE = 'tracker:may-leave'
/** ... and what the first process answers. */
const OTHERS_ACCEPT = 'tracker:others-accept'
const IS_LAST = 'tracker:is-last'
/** A first process that does not answer for so long, in milliseconds, has ended or stands still. */
const ANSWER_MS = 1_000

/** Whether this process is one of several that share the port. */
export function isWorker(): boolean {
  return cluster.isWorker
}

/**
 * Asks the first process whether other workers go on accepting connections, to be called before this one stops accepting
 * them. Of workers that ask at the same time, one is the last. False where there are no workers.
 */
export async function othersAccept(): Promise<boolean> {
  if (!cluster.isWorker) return false
  const answerOf = (message: unknown): boolean | undefined =>
    message === OTHERS_ACCEPT || message === IS_LAST ? message === OTHERS_ACCEPT : undefined
  return askFirstProcess(MAY_LEAVE, answerOf, ANSWER_MS, false)
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
  const metrics = createWorkersMetrics(logger)
  let areUp = false
  const accepting = new Set<Worker>()
  /** Who stops accepting last shortens the queue of the port, which nobody else may be using then. */
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
    // A message to a worker that has just died. Without a listener it would end this process.
    worker.on('error', (error: unknown) =>
      logger.warn({ err: error, worker: worker.process.pid }, 'a worker is not reached'),
    )
    worker.once('exit', (code, signal) => {
      accepting.delete(worker)
      void metrics.ended(worker)
      // One that ends before all are up ends the start.
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
        worker.once('exit', () => reject(new Error('a worker ended before it listened; its log lines have the reason')))
      })
    }),
  )
  areUp = true
}

/** @throws Error when a worker did not end cleanly */
async function stopWorkers(): Promise<void> {
  const workers = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined)
  const ended = workers.map(
    (worker) =>
      new Promise<boolean>((resolve) =>
        // One that had not begun to listen for signals ends by ours.
        worker.once('exit', (code, signal) => resolve(code === 0 || signal === 'SIGTERM')),
      ),
  )
  for (const worker of workers) worker.process.kill('SIGTERM')
  const deadline = setTimeout(() => {
    for (const worker of workers) worker.process.kill('SIGKILL')
  }, STOP_DEADLINE_MS - KILL_BEFORE_END_MS)
  const areClean = await Promise.all(ended)
  clearTimeout(deadline)
  if (areClean.includes(false)) throw new Error('a worker did not end cleanly; its log lines have the reason')
}
