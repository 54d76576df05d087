import { createServer } from 'node:http'
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net'
import { expect, test } from '@jest/globals'
import { startFakeVault } from '../fake-vault.ts'
import { keyPair, projectOf, vault } from './run-vault.ts'

const { publicKeyHex } = keyPair

test('uses a proxy except for hosts in NO_PROXY', async () => {
  await using server = await startFakeVault(publicKeyHex)
  server.secrets.set('A', '1')
  const tunnels: string[] = []
  const proxy = createServer()
  proxy.on('connect', (request, socket: Socket) => {
    tunnels.push(request.url ?? '')
    const [host, port] = new URL(server.url).host.split(':')
    const upstream = connect(Number(port), host, () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      upstream.pipe(socket).pipe(upstream)
    })
    for (const each of [socket, upstream]) each.on('error', () => socket.destroy())
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  try {
    const address = `http://127.0.0.1:${String((proxy.address() as AddressInfo).port)}`
    const env = { ...projectOf('http://vault.invalid'), HTTP_PROXY: address, HTTPS_PROXY: address }
    expect(await vault(['list'], env)).toMatchObject({ status: 0, out: 'A\n' })
    expect(tunnels).toEqual(['vault.invalid:80'])
    // The tunnel ends at a server without TLS.
    const secure = { ...env, VAULT_URL: 'https://vault.invalid' }
    expect(await vault(['list', '--timeout', '1s'], secure)).toMatchObject({ status: 1 })
    expect(tunnels).toContain('vault.invalid:443')
    const count = tunnels.length
    expect(await vault(['list', '--timeout', '1s'], { ...secure, NO_PROXY: '.invalid' })).toMatchObject({ status: 1 })
    expect(tunnels).toHaveLength(count)
    const gone = await vault(['list'], { ...env, HTTP_PROXY: 'http://127.0.0.1:1' })
    expect(gone).toMatchObject({ status: 1, err: expect.stringContaining('proxy 127.0.0.1:1') })
  } finally {
    proxy.closeAllConnections()
    proxy.close()
  }
}, 60_000)

test('--timeout limits the wait for a vault that does not respond', async () => {
  const silent = createTcpServer(() => undefined)
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  try {
    const url = `http://127.0.0.1:${String((silent.address() as AddressInfo).port)}`
    expect(await vault(['list', '--timeout', '1s'], projectOf(url))).toMatchObject({
      ...{ status: 1, err: expect.stringContaining('(timeout)') },
    })
  } finally {
    silent.close()
  }
}, 30_000)
