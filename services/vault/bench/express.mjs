// The reference: Express returns a constant of the given size, with the same two features off as in the vault.
import express from 'express'

const [port = 0, bytes = 0] = process.argv.slice(2).map(Number)
const body = { text: 'x'.repeat(bytes - '{"text":""}'.length) }
const app = express().disable('x-powered-by').disable('etag')
app.get('/v1/secrets', (_request, response) => response.json(body))
app.listen(port, '127.0.0.1')
