/** Jest's global tear-down: stops what the set-up started. */
export default async function teardown(): Promise<void> {
  await globalThis.devEnvTestServers?.stop()
}
