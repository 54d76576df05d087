import cluster, { type Worker } from 'node:cluster'
import { type Scope, STOP_DEADLINE_MS } from '@vault-and-tracker/service-kit/lifecycle'
import type { Logger } from '@vault-and-tracker/service-kit/logger'
import { createWorkersMetrics } from './workers.metrics.ts'

/** A worker that ends sooner than this after its start is not replaced at once: it would end again. */
const SHORT_LIFE_MS = 5_000
const RESTART_DELAY_MS = 1_000

/** A worker that has not ended so long before the first process has to is killed: it would keep the port. */
const KILL_BEFORE_END_MS = 500
/** What the first process tells its workers before it stops all of them. */
const ALL_STOP = 'tracker:all-stop'

/** Whether this process is one of several that share the port. */
export function isWorker(): boolean {
  return cluster.isWorker
}

/**
 * Listens to the first process, where there is one.
 *
 * @returns whether other workers go on accepting connections when this process stops
 */
export function followFirstProcess(): () => boolean {
  if (!cluster.isWorker) return () => false
  let allStop = false
  process.on('message', (message: unknown) => {
    if (message === ALL_STOP) allStop = true
  })
  return () => !allStop
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
  const start = (): Worker => {
    const worker = cluster.fork()
    const started = Date.now()
    worker.once('listening', () => metrics.add(worker))
    worker.on('message', (message: unknown) => metrics.receive(worker, message))
    // A message to a worker that has just died. Without a listener it would end this process.
    worker.on('error', (error: unknown) =>
      logger.warn({ err: error, worker: worker.process.pid }, 'a worker is not reached'),
    )
    worker.once('exit', (code, signal) => {
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
  for (const worker of workers) {
    if (worker.isConnected()) worker.send(ALL_STOP)
    worker.process.kill('SIGTERM')
  }
  const deadline = setTimeout(() => {
    for (const worker of workers) worker.process.kill('SIGKILL')
  }, STOP_DEADLINE_MS - KILL_BEFORE_END_MS)
  const areClean = await Promise.all(ended)
  clearTimeout(deadline)
  if (areClean.includes(false)) throw new Error('a worker did not end cleanly; its log lines have the reason')
}
