import { createServer, IncomingMessage, type Server, ServerResponse } from 'node:http'
import { answerMalformed } from '@vault-and-tracker/service-kit/http/server'
import type { Express } from 'express'
import { apiError, ERRORS } from '../errors.ts'
import { errorBody } from './errors.middleware.ts'

/** Slow clients have 10 s to send the headers and 30 s for the request. The vault itself refuses a missing Host. */
const OPTIONS = { headersTimeout: 10_000, requestTimeout: 30_000, requireHostHeader: false }

/** Creates the HTTP server of an app. Malformed messages never reach the app; they get an error of the same shape. */
export function createVaultServer(app: Express): Server {
  const server: Server = createServer({ ...OPTIONS, ...expressClasses(app) }, app)
  // By default, Node refuses unknown expectations without a body.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
  const answer = answerToMalformed()
  answerMalformed(server, () => answer)
  return server
}

function answerToMalformed(): string {
  const error = apiError('invalid_request', 'This is not a valid HTTP/1.1 request.')
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

/**
 * Returns classes for `http.createServer` whose objects already have the prototypes that Express sets.
 *
 * Express changes the prototype of every request and response, which disables V8's optimisations for the object. Objects
 * that already have the prototype are left alone. This saves a third of the time of a small request
 * (docs/performance.md). Review 2027-06: still needed with the current Express?
 */
export function expressClasses(app: Express): {
  IncomingMessage: typeof IncomingMessage
  ServerResponse: typeof ServerResponse
} {
  class AppRequest extends IncomingMessage {}
  class AppResponse<Request extends IncomingMessage> extends ServerResponse<Request> {}
  app.request = Object.setPrototypeOf(AppRequest.prototype, app.request) as Express['request']
  app.response = Object.setPrototypeOf(AppResponse.prototype, app.response) as Express['response']
  return { IncomingMessage: AppRequest, ServerResponse: AppResponse }
}
