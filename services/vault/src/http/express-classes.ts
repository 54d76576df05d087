import { IncomingMessage, ServerResponse } from 'node:http'
import type { Express } from 'express'

/**
 * Classes for `http.createServer` whose objects already have the prototypes that Express sets.
 *
 * Express changes the prototype of every request and response. V8 then drops its optimisations for that object, so every
 * access to it is slower. An object that already has that prototype is not changed. This saves a third of the time of a
 * request to an app that does little (docs/performance.md). Review 2027-06: still needed with the current Express?
 */
export function expressClasses(app: Express): {
  IncomingMessage: typeof IncomingMessage
  ServerResponse: typeof ServerResponse
} {
  class AppRequest extends IncomingMessage {}
  class AppResponse<Request extends IncomingMessage> extends ServerResponse<Request> {}
  // Express asks for the prototype by these two properties.
  app.request = Object.setPrototypeOf(AppRequest.prototype, app.request) as Express['request']
  app.response = Object.setPrototypeOf(AppResponse.prototype, app.response) as Express['response']
  return { IncomingMessage: AppRequest, ServerResponse: AppResponse }
}
