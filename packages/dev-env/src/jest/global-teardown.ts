/**
 * Jest's global teardown. In watch mode the servers keep running, without the databases of this run; the reaper stops
 * them.
 */
export default async function teardown({ watch, watchAll }: { watch: boolean; watchAll: boolean }): Promise<void> {
  const servers = globalThis.devEnvTestServers
  if (watch || watchAll) return await servers?.renew()
  globalThis.devEnvTestServers = undefined
  await servers?.stop()
}
