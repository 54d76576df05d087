import { Gauge, type Registry } from 'prom-client'

/** Uploads in Prometheus. @param taken the number of taken slots */
export function createUploadMetrics(registry: Registry, taken: () => number): void {
  new Gauge({
    name: 'tracker_uploads',
    help: 'Uploads and previews currently being received, read or stored; each takes a slot.',
    registers: [registry],
    collect() {
      this.set(taken())
    },
  })
}
