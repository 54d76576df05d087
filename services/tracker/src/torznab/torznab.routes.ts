import { createHash } from 'node:crypto'
import { addressKey, clientAddress, type TrustedProxies } from '@vault-and-tracker/service-kit/http/client-address'
import { allowReading, isKnown, isReading } from '@vault-and-tracker/service-kit/http/conditional-get'
import {
  contentType,
  type Feed,
  type Format,
  requestedFormat,
  type TorznabError,
  torznabError,
  writeCaps,
  writeDefinition,
  writeError,
  writeFrame,
  writeItems,
} from '@vault-and-tracker/torznab-xml'
import { type Request, type RequestHandler, type Response, Router } from 'express'
import type { RecordAddress } from '../addresses/addresses.ts'
import { torrentFileHeaders } from '../http/torrent-file-headers.ts'
import type { Outcome } from './answers.ts'
import type { RequestLog } from './request-log.ts'
import type { Answer, Asked, Torznab } from './torznab.ts'

export type TorznabRouteOptions = {
  readonly torznab: Torznab
  readonly log: RequestLog
  readonly recordAddress: Pick<RecordAddress, 'ofText'>
  readonly proxies: TrustedProxies
  /** With `200`, refusals of functions have that status, except refusals by a limit. */
  readonly errorStatus: 'http' | '200'
}

/** The Torznab API at each address that tools derive from its URL: cross-seed requires a path ending in `/api`, others add it. */
export function torznabRoutes(options: TorznabRouteOptions): Router {
  const { torznab } = options
  const router = Router({ caseSensitive: true, strict: true })
  const functions = ['/api/torznab', '/api/torznab/', '/api/torznab/api']
  router.all(functions, handlerOf(options, torznab.answer, options.errorStatus))
  router.all('/api/torznab/download', handlerOf(options, torznab.download, 'http'))
  router.all('/api/torznab/definition.yml', async (request, response) => {
    if (isReading(request)) send(request, response, { format: 'xml', outcome: await torznab.definition() }, 'http')
    else refuseMethod(request, response)
  })
  return router
}

function handlerOf(
  { proxies, log, recordAddress }: TorznabRouteOptions,
  answerTo: (asked: Asked) => Promise<Answer>,
  errorStatus: 'http' | '200',
): RequestHandler {
  return async (request, response) => {
    if (!isReading(request)) {
      refuseMethod(request, response)
      return
    }
    const started = performance.now()
    const asked = { rawQuery: rawQueryOf(request.url), address: clientAddress(request, proxies) }
    const answer = await answerTo(asked)
    send(request, response, answer, errorStatus)
    const { outcome, userId, infoHash, authorized, logged } = answer
    if (userId !== undefined) recordAddress.ofText(userId, 'api', asked.address)
    log.record({
      ...{ function: answer.function, userId, infoHash, authorized, logged },
      address: addressKey(asked.address),
      rawQuery: asked.rawQuery,
      results: resultsOf(outcome),
      durationMs: performance.now() - started,
      error: outcome.kind === 'refusal' ? outcome.error.code : undefined,
      refusedBy: outcome.kind === 'refusal' ? outcome.by : undefined,
      userAgent: request.get('user-agent') ?? '',
    })
  }
}

function refuseMethod(request: Request, response: Response): void {
  allowReading(response)
  sendError(response, { ...torznabError('noSuchFunction'), status: 405 }, requestedFormat(rawQueryOf(request.url)))
}

function rawQueryOf(url: string): string {
  const at = url.indexOf('?')
  return at === -1 ? '' : url.slice(at + 1)
}

function send(
  request: Request,
  response: Response,
  { format, outcome }: Pick<Answer, 'format' | 'outcome'>,
  errorStatus: 'http' | '200',
): void {
  switch (outcome.kind) {
    case 'definition':
      // The media type of RFC 9512.
      sendText(response, 'application/yaml', writeDefinition(outcome.definition))
      break
    case 'caps':
      sendText(response, contentType(format, 'caps'), writeCaps(outcome.caps, format))
      break
    case 'feed':
      sendFeed(request, response, outcome.feed, format)
      break
    case 'file':
      sendFile(response, outcome)
      break
    case 'refusal': {
      const { error, retryAfterSeconds } = outcome
      if (retryAfterSeconds !== undefined) response.setHeader('Retry-After', String(retryAfterSeconds))
      // Tools wait only if the status reports a limit or an outage.
      const isRefused = error.status < 500 && error.status !== 429
      sendError(response, isRefused && errorStatus === '200' ? { ...error, status: 200 } : error, format)
      break
    }
  }
}

function sendFeed(request: Request, response: Response, { items, ...feed }: Feed, format: Format): void {
  const written = Buffer.from(writeItems(items, format))
  const etag = etagOf(feed, format, written)
  response.setHeader('ETag', `W/${etag}`)
  response.setHeader('Cache-Control', 'private, no-cache')
  if (isKnown(request, etag)) {
    response.status(304).end()
    return
  }
  const [before, after] = writeFrame(feed, format)
  sendBytes(response, contentType(format, 'feed'), Buffer.concat([Buffer.from(before), written, Buffer.from(after)]))
}

/** The tag of a feed; weak, because the feed also contains the user's request counts, which always change. */
function etagOf({ limits: _limits, ...feed }: Omit<Feed, 'items'>, format: Format, items: Uint8Array): string {
  return `"${createHash('sha256')
    .update(JSON.stringify([format, feed]))
    .update(items)
    .digest('base64url')}"`
}

function sendFile(response: Response, { name, bytes }: Extract<Outcome, { kind: 'file' }>): void {
  response.set({ ...torrentFileHeaders(name), 'Content-Length': String(bytes.length) }).end(bytes)
}

function sendError(response: Response, error: TorznabError, format: Format): void {
  response.status(error.status)
  sendText(response, contentType(format, 'error'), writeError(error, format))
}

function sendText(response: Response, type: string, text: string): void {
  sendBytes(response, type, Buffer.from(text))
}

function sendBytes(response: Response, type: string, bytes: Uint8Array): void {
  response.setHeader('Content-Type', type)
  response.setHeader('Content-Length', bytes.length)
  response.end(bytes)
}

function resultsOf(outcome: Outcome): number {
  if (outcome.kind === 'feed') return outcome.feed.items.length
  return outcome.kind === 'file' ? 1 : 0
}
