import { Gauge, type Registry } from 'prom-client'
import type { Figures } from './overview.ts'

/** The overview in Prometheus. Only one process exports it, so that sums do not count it twice. */
export type OverviewGauges = {
  show(figures: Figures): void
  /** Exports nothing, because another process does or the figures are unknown. */
  clear(): void
}

export function createOverviewMetrics(registry: Registry): OverviewGauges {
  const registers = [registry]
  const torrents = new Gauge({
    name: 'tracker_torrents',
    help: 'Torrents, by state: approved (listed), or pending (waiting for a moderator).',
    labelNames: ['state'],
    registers,
  })
  const peers = new Gauge({
    name: 'tracker_peers',
    help: 'Peers of all swarms, by role: seeder or leecher.',
    labelNames: ['role'],
    registers,
  })
  const users = new Gauge({
    name: 'tracker_users',
    help: 'Users: all, or active (announced or signed in within a day).',
    labelNames: ['which'],
    registers,
  })
  return {
    show: (figures) => {
      torrents.set({ state: 'approved' }, figures.torrents)
      torrents.set({ state: 'pending' }, figures.pending)
      peers.set({ role: 'seeder' }, figures.seeders)
      peers.set({ role: 'leecher' }, figures.leechers)
      users.set({ which: 'all' }, figures.members)
      users.set({ which: 'active' }, figures.activeMembers)
    },
    clear: () => {
      for (const gauge of [torrents, peers, users]) gauge.reset()
    },
  }
}
