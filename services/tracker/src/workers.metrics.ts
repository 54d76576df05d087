import cluster, { type Worker } from 'node:cluster'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from '@vault-and-tracker/service-kit/logger'
import type { Metrics } from '@vault-and-tracker/service-kit/metrics'
import { AggregatorRegistry } from 'prom-client'

const TIMEOUT_MS = 5_000
const TYPE = 'tracker:metrics'

/** A worker's request for the metrics of all workers, and with `text` the reply to it. */
type MetricsMessage = { readonly type: typeof TYPE; readonly id: number; readonly text?: string | null }

/** prom-client sends messages of its own on the same channel. */
function isAboutMetrics(message: unknown): message is MetricsMessage {
  return typeof message === 'object' && message !== null && 'type' in message && message.type === TYPE
}

/** Creates what the first process does with the messages of its workers: it sends them the metrics of all workers. */
export function createMetricsReplies(logger: Logger): (worker: Worker, message: unknown) => void {
  const registry = new AggregatorRegistry()
  const reply = (worker: Worker, message: MetricsMessage): void => {
    if (worker.isConnected()) worker.send(message)
  }
  return (worker, message) => {
    if (!isAboutMetrics(message)) return
    registry.clusterMetrics().then(
      (text) => reply(worker, { ...message, text }),
      (error: unknown) => {
        logger.warn({ err: error }, 'could not collect the metrics of all workers')
        reply(worker, { ...message, text: null })
      },
    )
  }
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
  AggregatorRegistry.setRegistries(metrics.registry)
  // Constructing one is what makes this worker answer the first process's requests.
  new AggregatorRegistry()
  let last = 0
  return {
    ...metrics,
    handler: async (_request, response) => {
      last += 1
      const text = await askFirstProcess(last)
      if (text === null)
        response.status(503).type('text/plain').send('the metrics of all workers could not be collected\n')
      else response.type(metrics.registry.contentType).send(text)
    },
  }
}

async function askFirstProcess(id: number): Promise<string | null> {
  const done = new AbortController()
  const replied = new Promise<string | null>((resolve) => {
    const onMessage = (message: unknown): void => {
      if (!isAboutMetrics(message) || message.id !== id) return
      process.off('message', onMessage)
      resolve(message.text ?? null)
    }
    process.on('message', onMessage)
    done.signal.addEventListener('abort', () => process.off('message', onMessage))
    process.send?.({ type: TYPE, id } satisfies MetricsMessage)
  })
  const timeout = sleep(TIMEOUT_MS, null, { signal: done.signal }).catch(() => null)
  const text = await Promise.race([replied, timeout])
  done.abort()
  return text
}
