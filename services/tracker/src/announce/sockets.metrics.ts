import { Counter, Gauge, type Registry } from 'prom-client'
import type { SocketCounters } from './socket-counters.ts'

const LABELS = {
  kind: ['announce', 'answer', 'scrape', 'malformed'],
  relayed: ['offer', 'answer'],
  to: ['socket', 'process'],
  dropped: ['no_offer', 'peer_gone', 'slow_reader', 'unreachable'],
  refused: ['origin', 'path', 'header_fields', 'address_limit', 'stopping'],
} as const

/** The metrics of WebSockets. Counts of every message are kept here, and added to their metrics when these are collected. */
export function createSocketMetrics(registry: Registry): SocketCounters {
  const registers = [registry]
  const open = new Gauge({ name: 'tracker_websockets', help: 'WebSocket connections that are open.', registers })
  const received = { announce: 0, answer: 0, scrape: 0, malformed: 0 }
  const passedOn = { offer: { socket: 0, process: 0 }, answer: { socket: 0, process: 0 } }
  new Counter({
    name: 'tracker_websocket_messages_total',
    help: 'WebTorrent messages received over WebSockets, by kind.',
    labelNames: ['kind'],
    registers,
    collect() {
      for (const kind of LABELS.kind) {
        this.labels(kind).inc(received[kind])
        received[kind] = 0
      }
    },
  })
  new Counter({
    name: 'tracker_websocket_relayed_total',
    help: 'WebTorrent offers and answers relayed, to a connection of this process (socket) or to another process.',
    labelNames: ['kind', 'to'],
    registers,
    collect() {
      for (const kind of LABELS.relayed)
        for (const to of LABELS.to) {
          this.labels(kind, to).inc(passedOn[kind][to])
          passedOn[kind][to] = 0
        }
    },
  })
  const dropped = new Counter({
    name: 'tracker_websocket_dropped_total',
    help: 'WebTorrent offers and answers dropped, by reason.',
    labelNames: ['reason'],
    registers,
  })
  const refused = new Counter({
    name: 'tracker_websocket_refused_total',
    help: 'WebSocket upgrades refused, by reason.',
    labelNames: ['reason'],
    registers,
  })
  for (const reason of LABELS.dropped) dropped.labels(reason).inc(0)
  for (const reason of LABELS.refused) refused.labels(reason).inc(0)
  return {
    countOpened: () => open.inc(),
    countClosed: () => open.dec(),
    countMessage: (kind) => {
      received[kind] += 1
    },
    countRelayed: (kind, to, count = 1) => {
      passedOn[kind][to] += count
    },
    countDropped: (reason, count = 1) => dropped.labels(reason).inc(count),
    countRefused: (reason) => refused.labels(reason).inc(),
  }
}
