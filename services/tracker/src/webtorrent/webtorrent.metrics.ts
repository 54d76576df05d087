import { observe } from '@vault-and-tracker/service-kit/metrics/registry'
import { Counter, type Registry } from 'prom-client'
import type { SocketCounts } from './counts.ts'

/** Registers the metrics of WebSockets, which read the counts when they are collected. */
export function registerSocketMetrics(registry: Registry, counts: SocketCounts): void {
  const registers = [registry]
  observe(registry, 'tracker_websockets', 'WebSocket connections that are open.', () => counts.open)
  const count = (
    metric: { name: string; help: string; labelNames: string[] },
    read: () => readonly (readonly [number, ...string[]])[],
  ): void => {
    new Counter({
      ...{ ...metric, registers },
      collect() {
        this.reset()
        for (const [value, ...labels] of read()) this.labels(...labels).inc(value)
      },
    })
  }
  const byName = (values: Readonly<Record<string, number>>): [number, string][] =>
    Object.entries(values).map(([name, value]) => [value, name])
  count(
    {
      name: 'tracker_websocket_messages_total',
      help: 'WebTorrent messages received over WebSockets, by kind.',
      labelNames: ['kind'],
    },
    () => byName(counts.messages),
  )
  count(
    {
      name: 'tracker_websocket_relayed_total',
      help: 'WebTorrent offers and answers relayed, to a connection of this process (socket) or to another process.',
      labelNames: ['kind', 'to'],
    },
    () =>
      Object.entries(counts.relayed).flatMap(([kind, to]) =>
        byName(to).map(([n, name]): [number, string, string] => [n, kind, name]),
      ),
  )
  count(
    {
      name: 'tracker_websocket_dropped_total',
      help: 'WebTorrent offers and answers dropped, by reason.',
      labelNames: ['reason'],
    },
    () => byName(counts.dropped),
  )
  count(
    { name: 'tracker_websocket_refused_total', help: 'WebSocket upgrades refused, by reason.', labelNames: ['reason'] },
    () => byName(counts.refused),
  )
}
