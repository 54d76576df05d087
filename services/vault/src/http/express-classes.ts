import { IncomingMessage, ServerResponse } from 'node:http'
import type { Express } from 'express'

/**
 * Classes for `http.createServer` whose objects are what the app makes of them.
 *
 * Express gives every request and response another prototype, which costs V8 what it knows of them: every access to
 * them is slower from there on. An object that has that prototype already stays as it is. It is a third of what a
 * request costs an app that does little; docs/performance.md has the measurement.
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
