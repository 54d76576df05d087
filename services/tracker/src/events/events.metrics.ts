import { Gauge, type Registry } from 'prom-client'

/** Registers the number of connected clients. */
export function createEventMetrics(registry: Registry, streams: () => number): void {
  new Gauge({
    name: 'tracker_event_streams',
    help: 'Open streams of GET /api/events',
    registers: [registry],
    collect() {
      this.set(streams())
    },
  })
}
