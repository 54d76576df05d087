import { Counter, type Registry } from 'prom-client'

/** Registers the counter of attempts. @returns counts one */
export function createWebhookMetrics(registry: Registry): (result: 'delivered' | 'failed' | 'disabled') => void {
  const attempts = new Counter({
    name: 'tracker_webhook_attempts_total',
    help: 'Attempts to send a torrent to a webhook, by result',
    labelNames: ['result'],
    registers: [registry],
  })
  return (result) => attempts.inc({ result })
}
