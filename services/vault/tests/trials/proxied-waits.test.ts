import { Agent } from 'node:https'
import { expect, test } from '@jest/globals'
import { sendThrough, startCaddy, startNginx } from '@vault-and-tracker/dev-env'
import { createProject, signedSend, signHeaders } from '../support/client.ts'
import { startVault } from '../support/vault.ts'

const HOST = 'vault.example.org'

test('a client that waits for changes gets its response through each proxy', async () => {
  const vault = await startVault({ TRUSTED_PROXIES: '127.0.0.1', PUBLIC_URL: `https://${HOST},http://127.0.0.1:0` })
  const proxies = await Promise.all(
    [startNginx, startCaddy].map((start) => start({ vault: [new URL(vault.url).host] })),
  )
  const signing = { project: 'shop', key: await createProject(vault.url, 'shop'), method: 'GET' }
  const changes = '/v1/secrets/changes?env=production'
  const { body } = await signedSend({ ...signing, url: vault.url + changes })
  const path = `${changes}&since=${(body as { version: string }).version}`
  const waits = proxies.map(async (proxy) => {
    const agent = new Agent({ keepAlive: false, secureContext: proxy.trusted })
    const headers = await signHeaders({ ...signing, url: `https://${HOST}${path}` })
    return sendThrough(proxy, agent, { host: HOST, method: 'GET', path, headers })
  })
  expect(await Promise.all(waits)).toEqual(['200', '200'])
  await Promise.all(proxies.map((proxy) => proxy.stop()))
  await vault.stop()
})
