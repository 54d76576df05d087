import { Gauge, type Registry } from 'prom-client'

/** Uploads in Prometheus: `taken` says how many hold a slot. */
export function createUploadMetrics(registry: Registry, taken: () => number): void {
  new Gauge({
    name: 'tracker_uploads',
    help: 'Uploads and previews that are received, read or stored at the moment; each holds a slot.',
    registers: [registry],
    collect() {
      this.set(taken())
    },
  })
}
