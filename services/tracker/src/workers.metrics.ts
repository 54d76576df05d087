import cluster, { type Worker } from 'node:cluster'
import { within } from '@vault-and-tracker/service-kit/core/with-timeout'
import type { Logger } from '@vault-and-tracker/service-kit/log/logger'
import type { Metrics } from '@vault-and-tracker/service-kit/metrics/registry'
import { AggregatorRegistry, type MetricObjectWithValues, type MetricValue, type Registry } from 'prom-client'
import { askFirstProcess } from './first-process.ts'

type Metric = MetricObjectWithValues<MetricValue<string>>

/** A worker that does not answer for so long stands still. */
const TIMEOUT_MS = 5_000
const OF_ALL = 'tracker:metrics'
const OF_ONE = 'tracker:own-metrics'

/** A worker's request for the metrics of all workers, and with `text` the reply to it. */
type OfAll = { readonly type: typeof OF_ALL; readonly id: number; readonly text?: string | null }
/** The first process's request for the metrics of one worker, and with `metrics` the reply to it. */
type OfOne = { readonly type: typeof OF_ONE; readonly id: number; readonly metrics?: readonly Metric[] }

/** The metrics of all workers, in the first process. */
export type WorkersMetrics = {
  /** To be called when a worker listens: from then on it is asked. */
  add(worker: Worker): void
  /** To be called with every message of a worker. */
  receive(worker: Worker, message: unknown): void
  /** To be called when a worker has ended: what it counted stays in the sums, as far as it was collected. */
  ended(worker: Worker): Promise<void>
}

function isOf<Message extends OfAll | OfOne>(type: Message['type'], message: unknown): message is Message {
  return typeof message === 'object' && message !== null && 'type' in message && message.type === type
}

/** Creates what adds up the metrics of all workers. */
export function createWorkersMetrics(logger: Logger): WorkersMetrics {
  const listening = new Set<Worker>()
  /** What each of them told last. */
  const latest = new Map<Worker, readonly Metric[]>()
  /** What the workers that have ended counted. Without it the sums would fall whenever one ends. */
  let retired: readonly Metric[] = []
  let retiring = Promise.resolve()
  /** Workers that have not answered a request yet, by its id. */
  const asked = new Map<number, { readonly missing: Set<Worker>; readonly onAll: () => void }>()
  let lastId = 0

  const answered = (id: number, worker: Worker): void => {
    const request = asked.get(id)
    if (request?.missing.delete(worker) === true && request.missing.size === 0) request.onAll()
  }

  /** @throws Error when a worker does not answer in time */
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
      // One after the other, and each from the one place to the other in one step, so that no sum lacks it.
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

/** Whether a metric only rises. What else a worker told is no longer so once it has ended. */
function isCounted({ type }: Metric): boolean {
  return ['counter', 'histogram', 'summary'].includes(String(type))
}

/** Adds up metrics, or what else their `aggregator` says. */
function sumOf(metrics: readonly (readonly Metric[])[]): Registry {
  // The library takes an array and types it as one of any objects.
  return AggregatorRegistry.aggregate(metrics as Metric[][])
}

/**
 * Metrics as they are answered over HTTP. A worker answers those of all workers, since a client cannot choose which one
 * it asks. Where the first process does not reply in time the answer is 503: counters of one worker alone would look like
 * those of a service that was started anew, and count once more at the next scrape.
 *
 * @returns the metrics, unchanged where the process is alone
 */
export function withMetricsOfAllWorkers(metrics: Metrics): Metrics {
  if (!cluster.isWorker) return metrics
  const { registry } = metrics
  process.on('message', (message: unknown) => {
    if (!isOf<OfOne>(OF_ONE, message)) return
    // Where they cannot be told, the first process waits in vain, and says so.
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
      const text = await askFirstProcess({ type: OF_ALL, id } satisfies OfAll, textOf, 2 * TIMEOUT_MS, null)
      if (text === null)
        response.status(503).type('text/plain').send('the metrics of all workers could not be collected\n')
      else response.type(registry.contentType).send(text)
    },
  }
}
