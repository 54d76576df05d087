import { setTimeout as sleep } from 'node:timers/promises'
import { eventually } from './eventually.ts'
import type { Nginx } from './nginx.ts'

/** The wait of docs/operations.md: for so long nginx goes on with requests that a replica has. */
const LETTING_GO_MS = 2_000

/** Two replicas of a service behind nginx. */
export type ReplicaPair = {
  readonly service: 'vault' | 'tracker'
  readonly ports: readonly [number, number]
  /** Stops a replica and starts it again on its port. */
  readonly restart: (replica: 0 | 1) => Promise<void>
}

/** The addresses of the replicas as nginx takes them; the one that is `down` gets no requests. */
export function replicaAddresses(ports: readonly [number, number], down?: 0 | 1): readonly string[] {
  return ports.map((port, i) => `127.0.0.1:${String(port)}${i === down ? ' down' : ''}`)
}

/** Restarts both replicas, one after the other, as docs/operations.md tells operators to. */
export async function restartInTurn(nginx: Nginx, { service, ports, restart }: ReplicaPair): Promise<void> {
  for (const replica of [1, 0] as const) {
    await nginx.reload({ [service]: replicaAddresses(ports, replica) })
    await sleep(LETTING_GO_MS)
    await restart(replica)
    const ready = `http://127.0.0.1:${String(ports[replica])}/ready`
    await eventually(async () => (await fetch(ready)).status === 200)
    await nginx.reload({ [service]: replicaAddresses(ports) })
  }
}
