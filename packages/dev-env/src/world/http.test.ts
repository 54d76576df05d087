import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { expect, test } from '@jest/globals'
import { bytesOf, send } from './http.ts'

test('a request never meets a connection that the other end closes because it was idle', async () => {
  // It answers one request of a connection and closes it when the next one arrives: what such a race looks like from here.
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', () => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 5\r\nKeep-Alive: timeout=60\r\n\r\nhello')
      socket.once('data', () => socket.destroy())
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  for (let i = 0; i < 3; i += 1) {
    const answer = await send('POST', `http://127.0.0.1:${String(port)}/`, { body: { i } })
    expect((await bytesOf(answer)).toString()).toBe('hello')
  }
  server.close()
})
