/** What is needed here of jest's configuration. */
type JestConfig = {
  watch: boolean
  watchAll: boolean
}

/**
 * Jest's global tear-down: stops what the set-up started. In watch mode the servers stay for the next run, without what
 * this one created; the reaper stops them when jest ends.
 */
export default async function teardown({ watch, watchAll }: JestConfig): Promise<void> {
  const servers = globalThis.devEnvTestServers
  if (watch || watchAll) await servers?.renew()
  else {
    globalThis.devEnvTestServers = undefined
    await servers?.stop()
  }
}
