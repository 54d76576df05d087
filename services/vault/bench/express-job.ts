// The yardstick: Express 5 answering a constant object of the same size, with the same two switches off as the vault.
import { createServer } from 'node:http'
import express from 'express'
import { send } from './job.ts'

process.once('message', ({ body }: { body: object }) => {
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.get('/v1/secrets', (_request, response) => {
    response.json(body)
  })
  const server = createServer(app).listen(0, '127.0.0.1', () => {
    const address = server.address()
    send({ port: typeof address === 'object' ? address?.port : undefined })
  })
})
