// Measures signed fetches next to Express with a constant response of the same size. See docs/performance.md.
// Usage: pnpm build && pnpm --filter vault bench [seconds for each measurement] [rounds]
import {
  type Measured,
  measureLoad,
  print,
  printHead,
  quantile,
  requestOf,
  whole,
} from '@vault-and-tracker/dev-env/bench'
import { createProject, type Project, type Server, signedFetches, startExpress, startVault } from './vault.ts'

const seconds = Number(process.argv[2] ?? 4)
const rounds = Number(process.argv[3] ?? 3)
/** More requests per second than are answered, because each can be sent once. */
const PREPARED_PER_SECOND = 6_000

type Row = { name: string; connections: number; server: Server; requests: () => string[]; measured: Measured[] }

const vault = await startVault()
try {
  const shop = await createProject(vault, 'shop', 20)
  const several = [shop]
  for (let i = 1; i < 10; i++) several.push(await createProject(vault, `shop-${String(i)}`, 20))
  const inheriting = await createProject(vault, 'inheriting', 20, { inherited: 10, keys: 10 })
  const express = await startExpress(1_321)
  const fetches =
    (projects: readonly Project[], perSecond = PREPARED_PER_SECOND) =>
    () =>
      signedFetches(vault, projects, (seconds + 1) * perSecond)
  const row = (name: string, connections: number, server: Server, requests: () => string[]): Row => ({
    ...{ name, connections, server, requests, measured: [] },
  })
  const rows = [16, 64].flatMap((connections) => [
    row('signed fetch of 20 secrets', connections, vault, fetches([shop])),
    row('Express returns a constant of that size', connections, express, () => [requestOf(express.url, '/v1/secrets')]),
    row('signed fetch, ten projects in turn', connections, vault, fetches(several)),
    row('signed fetch of 20 secrets, 10 keys and a parent environment', connections, vault, fetches([inheriting])),
    row('GET /health of the vault', connections, vault, () => [requestOf(vault.url, '/health')]),
  ])
  for (const secrets of [100, 1_000]) {
    const project = await createProject(vault, `with-${String(secrets)}`, secrets)
    rows.push(row(`signed fetch of ${whole(secrets)} secrets`, 2, vault, fetches([project], 1_000)))
  }
  // Round by round, so that other work on the machine does not affect only one row.
  for (let round = 0; round < rounds; round++)
    for (const { connections, server, requests, measured } of rows) {
      const load = { connections, cpuSeconds: () => server.cpuSeconds() }
      await measureLoad(server.url, { ...load, seconds: 1, send: { requests: requests(), folder: vault.folder } })
      measured.push(
        await measureLoad(server.url, { ...load, seconds, send: { requests: requests(), folder: vault.folder } }),
      )
    }
  const note = `median of ${String(rounds)} rounds of ${String(seconds)} s`
  printHead(note, 'what', 'connections', 'requests/s', 'p50 ms', 'p99 ms', 'CPU µs/request', 'errors')
  for (const { name, connections, measured } of rows) {
    const median = (of: (one: Measured) => number): number => quantile(measured.map(of))
    print(
      ...[name, connections, whole(median((one) => one.perSecond))],
      ...[median((one) => one.p50Ms).toFixed(2), median((one) => one.p99Ms).toFixed(2)],
      ...[whole(median((one) => one.cpuMicros)), median((one) => one.errors)],
    )
  }
  await express.stop()
} finally {
  await vault.stop()
}
