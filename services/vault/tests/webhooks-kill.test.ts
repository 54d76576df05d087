import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { eventually, removeTemporaryFolder, temporaryFolder } from '@vault-and-tracker/dev-env'
import { admin, createProject, type Key, signedSend } from './support/client.ts'
import { type Receiver, startReceiver } from './support/receiver.ts'
import { startVault, type TestVault } from './support/vault.ts'
import { startVaultProcess, type VaultProcess } from './support/vault-process.ts'

let folder: string
let survivor: TestVault
let killed: VaultProcess
let receiver: Receiver
let key: Key

beforeAll(async () => {
  folder = temporaryFolder('webhooks-kill')
  survivor = await startVault({ WEBHOOK_ALLOW_PRIVATE: 'true' })
  killed = await startVaultProcess({
    ...{ folder, databaseUrl: survivor.database.appUrl, redisUrl: survivor.redisUrl },
    env: { WEBHOOK_ALLOW_PRIVATE: 'true' },
  })
  receiver = await startReceiver(survivor)
  key = await createProject(survivor.url, 'shop')
})
afterAll(async () => {
  await receiver.close()
  await survivor.stop()
  removeTemporaryFolder(folder)
})

test('another replica repeats the attempts of one that was killed, with the same ids', async () => {
  const put = (name: string) =>
    signedSend({
      ...{ project: 'shop', key, method: 'PUT', url: `${survivor.url}/v1/secrets` },
      body: { key: name, value: 'v', env: 'production' },
    })
  const deliver = async () => {
    const { webhookDeliveries } = survivor.context.useCases
    while ((await webhookDeliveries.startDue()) > 0) await webhookDeliveries.settled()
  }
  expect((await admin(survivor.url, 'POST', '/projects/shop/webhooks', { url: receiver.url })).status).toBe(201)
  receiver.answer = () => 'hang'
  await put('A')
  // Only the other process delivers in the background.
  await eventually(() => Promise.resolve(receiver.events.length === 1))
  await killed.process.kill()
  await put('B')
  receiver.answer = () => 204
  await deliver()
  expect(receiver.events.map(({ secrets }) => secrets?.[0]?.key)).toEqual(['A', 'B'])
  // Until the lease of the dead process ends.
  await survivor.age(31_000)
  await deliver()
  expect(receiver.events.map(({ secrets }) => secrets?.[0]?.key)).toEqual(['A', 'B', 'A'])
  expect(receiver.events[2]?.id).toBe(receiver.events[0]?.id)
  expect(receiver.refused).toEqual([])
  await survivor.age(31_000)
  await deliver()
  expect(receiver.events).toHaveLength(3)
})
