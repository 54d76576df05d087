import cluster, { type Worker } from 'node:cluster'
import { within } from '@vault-and-tracker/service-kit/core/concurrency'
import type { Logger } from '@vault-and-tracker/service-kit/log/logger'
import type { Metrics } from '@vault-and-tracker/service-kit/metrics/registry'
import { AggregatorRegistry, type MetricObjectWithValues, type MetricValue, type Registry } from 'prom-client'
import { askPrimary } from './primary.ts'

type Metric = MetricObjectWithValues<MetricValue<string>>

/** After this time without an answer, a worker is considered blocked. */
const TIMEOUT_MS = 5_000
const OF_ALL = 'tracker:metrics'
const OF_ONE = 'tracker:own-metrics'

/** A worker's request for the metrics of all workers, and with `text` the reply to it. */
type OfAll = { readonly type: typeof OF_ALL; readonly id: number; readonly text?: string | null }
/** The primary process's request for the metrics of one worker, and with `metrics` the reply to it. */
type OfOne = { readonly type: typeof OF_ONE; readonly id: number; readonly metrics?: readonly Metric[] }

/** The metrics of all workers, in the primary process. */
export type WorkersMetrics = {
  /** Call when a worker listens. */
  add(worker: Worker): void
  /** Call with every message of a worker. */
  receive(worker: Worker, message: unknown): void
  /** Call when a worker has ended. Its last collected counts stay in the sums. */
  ended(worker: Worker): Promise<void>
}

function isOf<Message extends OfAll | OfOne>(type: Message['type'], message: unknown): message is Message {
  return typeof message === 'object' && message !== null && 'type' in message && message.type === type
}

/** Creates the sums of the metrics of all workers. */
export function createWorkersMetrics(logger: Logger): WorkersMetrics {
  const listening = new Set<Worker>()
  /** The last metrics of each worker. */
  const latest = new Map<Worker, readonly Metric[]>()
  /** The counts of ended workers. Without them the sums would fall whenever a worker ends. */
  let retired: readonly Metric[] = []
  let retiring = Promise.resolve()
  /** Requests by id, with the workers that have not answered yet. */
  const asked = new Map<number, { readonly missing: Set<Worker>; readonly onAll: () => void }>()
  let lastId = 0

  const answered = (id: number, worker: Worker): void => {
    const request = asked.get(id)
    if (request?.missing.delete(worker) === true && request.missing.size === 0) request.onAll()
  }

  /** @throws Error if a worker does not answer in time */
  const collect = async (): Promise<string> => {
    lastId += 1
    const id = lastId
    const workers = [...listening].filter((worker) => worker.isConnected())
    const missing = new Set(workers)
    const all = new Promise<boolean>((resolve) => asked.set(id, { missing, onAll: () => resolve(true) }))
    for (const worker of workers) worker.send({ type: OF_ONE, id } satisfies OfOne)
    const isComplete = await within(TIMEOUT_MS, all, false)
    asked.delete(id)
    if (!isComplete) throw new Error('a worker does not answer')
    return sumOf([...latest.values(), retired]).metrics()
  }

  const reply = (worker: Worker, message: OfAll): void => {
    if (worker.isConnected()) worker.send(message)
  }

  return {
    add: (worker) => void listening.add(worker),

    receive: (worker, message) => {
      if (isOf<OfOne>(OF_ONE, message)) {
        latest.set(worker, message.metrics ?? [])
        answered(message.id, worker)
      } else if (isOf<OfAll>(OF_ALL, message))
        collect().then(
          (text) => reply(worker, { ...message, text }),
          (error: unknown) => {
            logger.warn({ err: error }, 'could not collect the metrics of all workers')
            reply(worker, { ...message, text: null })
          },
        )
    },
    ended: (worker) => {
      listening.delete(worker)
      // One after the other, and moved in a single step, so that no sum misses a worker.
      retiring = retiring.then(async () => {
        const counted = (latest.get(worker) ?? []).filter(isCounted)
        retired = await sumOf([retired, counted]).getMetricsAsJSON()
        latest.delete(worker)
        for (const id of asked.keys()) answered(id, worker)
      })
      return retiring
    },
  }
}

/** Whether a metric only rises. Other metrics are meaningless once their worker has ended. */
function isCounted({ type }: Metric): boolean {
  return ['counter', 'histogram', 'summary'].includes(String(type))
}

/** Aggregates metrics according to their `aggregator`, a sum by default. */
function sumOf(metrics: readonly (readonly Metric[])[]): Registry {
  // The library does not accept readonly arrays.
  return AggregatorRegistry.aggregate(metrics as Metric[][])
}

/**
 * Serves the metrics of all workers, since clients cannot choose a worker. If the primary process does not reply in time,
 * the response is 503: the counters of one worker alone would look like a restart, and the next scrape would count
 * everything twice.
 *
 * @returns the metrics, unchanged in a single process
 */
export function withMetricsOfAllWorkers(metrics: Metrics): Metrics {
  if (!cluster.isWorker) return metrics
  const { registry } = metrics
  process.on('message', (message: unknown) => {
    if (!isOf<OfOne>(OF_ONE, message)) return
    // If this fails, the primary process times out and logs it.
    registry.getMetricsAsJSON().then(
      (own) => process.send?.({ ...message, metrics: own } satisfies OfOne),
      () => undefined,
    )
  })
  let lastId = 0
  return {
    ...metrics,
    handler: async (_request, response) => {
      lastId += 1
      const id = lastId
      const textOf = (message: unknown): string | null | undefined =>
        isOf<OfAll>(OF_ALL, message) && message.id === id ? (message.text ?? null) : undefined
      const text = await askPrimary({ type: OF_ALL, id } satisfies OfAll, textOf, 2 * TIMEOUT_MS, null)
      if (text === null)
        response.status(503).type('text/plain').send('the metrics of all workers could not be collected\n')
      else response.type(registry.contentType).send(text)
    },
  }
}
