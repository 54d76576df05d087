import { Counter, Gauge, type Registry } from 'prom-client'
import type { SocketCounters } from './ws-counters.ts'

/** Sockets in Prometheus. */
export function createSocketMetrics(registry: Registry): SocketCounters {
  const registers = [registry]
  const open = new Gauge({ name: 'tracker_websockets', help: 'Open WebSocket connections.', registers })
  const messages = new Counter({
    name: 'tracker_websocket_messages_total',
    help: 'Messages received over WebSockets, by kind.',
    labelNames: ['kind'],
    registers,
  })
  const relayed = new Counter({
    name: 'tracker_websocket_relayed_total',
    help: 'Offers and answers passed on, to a socket of this process or to another process.',
    labelNames: ['kind', 'to'],
    registers,
  })
  const dropped = new Counter({
    name: 'tracker_websocket_dropped_total',
    help: 'Offers and answers that were not passed on, by reason.',
    labelNames: ['reason'],
    registers,
  })
  const refused = new Counter({
    name: 'tracker_websocket_refused_total',
    help: 'Upgrades refused, by reason.',
    labelNames: ['reason'],
    registers,
  })
  const kinds = {
    announce: messages.labels('announce'),
    answer: messages.labels('answer'),
    scrape: messages.labels('scrape'),
    malformed: messages.labels('malformed'),
  }
  const to = {
    offer: { socket: relayed.labels('offer', 'socket'), process: relayed.labels('offer', 'process') },
    answer: { socket: relayed.labels('answer', 'socket'), process: relayed.labels('answer', 'process') },
  }
  for (const reason of ['no_offer', 'peer_gone', 'slow_reader', 'unreachable']) dropped.labels(reason).inc(0)
  for (const reason of ['origin', 'path', 'address_limit', 'stopping']) refused.labels(reason).inc(0)
  return {
    countOpened: () => open.inc(),
    countClosed: () => open.dec(),
    countMessage: (kind) => kinds[kind].inc(),
    countRelayed: (kind, where, count = 1) => to[kind][where].inc(count),
    countDropped: (reason, count = 1) => dropped.labels(reason).inc(count),
    countRefused: (reason) => refused.labels(reason).inc(),
  }
}
