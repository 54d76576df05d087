import cluster, { type Worker } from 'node:cluster'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Scope } from '@vault-and-tracker/service-kit/lifecycle'
import type { Logger } from '@vault-and-tracker/service-kit/logger'
import type { Metrics } from '@vault-and-tracker/service-kit/metrics'
import { AggregatorRegistry } from 'prom-client'

/** A worker that ends sooner than this after its start is not replaced at once: it would end again. */
const SHORT_LIFE_MS = 5_000
const RESTART_DELAY_MS = 1_000
const METRICS_TIMEOUT_MS = 5_000

/** A worker's question, and with `text` its answer. */
type MetricsMessage = { readonly type: typeof METRICS; readonly id: number; readonly text?: string | null }

const METRICS = 'tracker:metrics'

/** prom-client sends messages of its own on the same channel. */
function isAboutMetrics(message: unknown): message is MetricsMessage {
  return typeof message === 'object' && message !== null && 'type' in message && message.type === METRICS
}

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
  const registry = new AggregatorRegistry()
  const start = (): Worker => {
    const worker = cluster.fork()
    const started = Date.now()
    worker.on('message', (message: unknown) => {
      if (!isAboutMetrics(message)) return
      registry.clusterMetrics().then(
        (text) => answer(worker, { ...message, text }),
        (error: unknown) => {
          logger.warn({ err: error }, 'could not gather the metrics of all workers')
          answer(worker, { ...message, text: null })
        },
      )
    })
    worker.once('exit', (code, signal) => {
      if (scope.signal.aborted) return
      logger.error({ worker: worker.process.pid, code, signal }, 'a worker ended; another takes its place')
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
        worker.once('exit', () => reject(new Error('a worker ended before it listened; its log tells why')))
      })
    }),
  )
}

function answer(worker: Worker, message: MetricsMessage): void {
  if (worker.isConnected()) worker.send(message)
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

/**
 * Metrics as they are answered over HTTP. A worker answers those of all workers, since a client cannot choose which one it
 * asks.
 *
 * @returns the metrics, unchanged where the process is alone
 */
export function withMetricsOfAllWorkers(metrics: Metrics): Metrics {
  if (!cluster.isWorker) return metrics
  AggregatorRegistry.setRegistries(metrics.registry)
  // Constructing one is what makes this worker answer the first process's requests.
  new AggregatorRegistry()
  let last = 0
  return {
    ...metrics,
    handler: async (_request, response) => {
      last += 1
      const text = await askFirstProcess(last)
      response.type(metrics.registry.contentType).send(text ?? (await metrics.registry.metrics()))
    },
  }
}

async function askFirstProcess(id: number): Promise<string | null> {
  const done = new AbortController()
  const asked = new Promise<string | null>((resolve) => {
    const onMessage = (message: unknown): void => {
      if (!isAboutMetrics(message) || message.id !== id) return
      process.off('message', onMessage)
      resolve(message.text ?? null)
    }
    process.on('message', onMessage)
    done.signal.addEventListener('abort', () => process.off('message', onMessage))
    process.send?.({ type: METRICS, id } satisfies MetricsMessage)
  })
  const late = sleep(METRICS_TIMEOUT_MS, null, { signal: done.signal }).catch(() => null)
  const text = await Promise.race([asked, late])
  done.abort()
  return text
}
