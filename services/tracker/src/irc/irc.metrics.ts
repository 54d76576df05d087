import { Gauge, type Registry } from 'prom-client'

/** Registers the number of connections. */
export function createIrcMetrics(registry: Registry, connections: () => number): void {
  new Gauge({
    name: 'tracker_irc_connections',
    help: 'Open connections to the IRC listener',
    registers: [registry],
    collect() {
      this.set(connections())
    },
  })
}
