import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from '@jest/globals'
import express from 'express'
import { expressClasses } from './server.ts'

test('requests and responses keep the prototypes they were created with', async () => {
  const app = express()
  const classes = expressClasses(app)
  const seen: unknown[] = []
  app.use((request, response) => {
    seen.push(Object.getPrototypeOf(request), Object.getPrototypeOf(response))
    response.json({ host: request.hostname, path: request.path, app: request.app === app && response.app === app })
  })
  const server = createServer(classes, app).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const answer = await fetch(`http://127.0.0.1:${String(port)}/a?b=c`)
  expect(await answer.json()).toEqual({ host: '127.0.0.1', path: '/a', app: true })
  expect(seen).toEqual([classes.IncomingMessage.prototype, classes.ServerResponse.prototype])
  server.closeAllConnections()
  server.close()
})
