import { createServer, type Server } from 'node:http'
import { answerMalformed } from '@vault-and-tracker/service-kit/http/server'
import type { Express } from 'express'
import { apiError, ERRORS } from '../errors.ts'
import { errorBody } from './error-body.ts'
import { expressClasses } from './express-classes.ts'

/** Slow senders: 10 s for the headers, 30 s for all of a request. A missing Host is refused in our own words. */
const OPTIONS = { headersTimeout: 10_000, requestTimeout: 30_000, requireHostHeader: false }

/** The HTTP server of an app, not listening yet. What is not HTTP never reaches the app; it is answered in the same shape. */
export function createVaultServer(app: Express): Server {
  const server: Server = createServer({ ...OPTIONS, ...expressClasses(app) }, app)
  // Node would answer an expectation it does not know by itself, without a body; nothing obliges us to refuse it.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
  const answer = answerToMalformed()
  answerMalformed(server, () => answer)
  return server
}

function answerToMalformed(): string {
  const error = apiError('invalid_request', 'This is not a request of HTTP/1.1.')
  const text = JSON.stringify(errorBody(error))
  return [
    `HTTP/1.1 ${String(ERRORS[error.code].status)} Bad Request`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${String(text.length)}`,
    'Cache-Control: no-store',
    'Connection: close',
    '',
    text,
  ].join('\r\n')
}
