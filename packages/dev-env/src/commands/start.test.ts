import { once } from 'node:events'
import { createServer } from 'node:net'
import { expect, test } from '@jest/globals'
import { requireFreePorts } from './start.ts'

test('a port in use is refused, with the variable to set', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  const address = other.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  await expect(requireFreePorts({ vaultPort: port, trackerPort: 0 })).rejects.toThrow(/Set VAULT_PORT to another port/)
  await expect(requireFreePorts({ vaultPort: 0, trackerPort: port })).rejects.toThrow(
    /Set TRACKER_PORT to another port/,
  )
  other.close()
})
