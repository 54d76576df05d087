// The yardstick: Express 5 answering a constant object of the same size, with the same two switches off as the vault.
import { createServer } from 'node:http'
import express from 'express'

process.once('message', ({ body }) => {
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.get('/v1/secrets', (_request, response) => {
    response.json(body)
  })
  const server = createServer(app).listen(0, '127.0.0.1', () => process.send({ port: server.address().port }))
})
