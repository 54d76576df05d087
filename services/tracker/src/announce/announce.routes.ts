import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  type AnnounceRequest,
  addressFromText,
  announceListReply,
  announceReply,
  FAILURES,
  failureReply,
  parseAnnounceQuery,
  parseScrapeQuery,
  parseTrackerTarget,
  scrapeReply,
  type TrackerTarget,
  WARNINGS,
} from '@vault-and-tracker/bencode-tracker'
import type { Clock } from '@vault-and-tracker/service-kit/clock'
import { UnavailableError } from '@vault-and-tracker/service-kit/errors'
import type { Logger } from '@vault-and-tracker/service-kit/logger'
import { type Asker, listPeers, selectPeers } from '../swarm/selection.ts'
import type { Accepted, Announces, Refusal } from './announce.ts'
import type { AnnounceCounters } from './announce-counters.ts'
import type { Scrapes } from './scrape.ts'

/** A line of this many bytes that does not end is too long; what is shorter holds something that HTTP forbids. */
const LONG_LINE = 8_192
/** Seconds before which no scrape is welcome, as scrapes are told. */
const SCRAPE_INTERVAL = 600
const NO_PEERS = { peers: new Uint8Array(0), peers6: new Uint8Array(0) }

/** What the handler works with. */
export type AnnounceRouteOptions = {
  readonly announces: Announces
  readonly scrapes: Scrapes
  readonly counters: AnnounceCounters
  /** The address a request came from, as text. */
  readonly addressOf: (request: IncomingMessage) => string
  readonly clock: Clock
  readonly random: () => number
  readonly logger: Logger
}

/** Answers announces and scrapes. */
export type AnnounceRoutes = {
  /** Whether the request was one of them; when not, it is untouched. */
  readonly answer: (request: IncomingMessage, response: ServerResponse) => boolean
  /** The whole answer to one that Node's parser refuses, by the bytes it came in; `undefined` for anything else. */
  readonly answerMalformed: (packet: Buffer | undefined) => string | undefined
}

/**
 * Answers announces and scrapes (BEP 3, 48) straight from `node:http`: they are most of a tracker's requests, and
 * entering Express would cost several times what answering them does.
 */
export function announceRoutes(options: AnnounceRouteOptions): AnnounceRoutes {
  const { announces, scrapes, counters, clock } = options

  const refusalOf = (action: 'announce' | 'scrape', refusal: Refusal): Buffer => {
    const { failure, interval, minInterval, detail } = refusal
    counters.failed(action, failure)
    const retryIn = failure === 'announce_limit' ? Math.ceil(interval / 60) : undefined
    return failureReply(failure, { interval, minInterval, retryIn, detail })
  }

  const refuse = (response: ServerResponse, action: 'announce' | 'scrape', refusal: Refusal): void => {
    const retryAfter = refusal.failure === 'announce_limit' ? refusal.interval : undefined
    send(response, FAILURES[refusal.failure].status, refusalOf(action, refusal), retryAfter)
  }

  const present = (request: AnnounceRequest, outcome: Accepted, externalIp: Uint8Array): Buffer => {
    const { answer, warning, interval, minInterval, owner, endpoints } = outcome
    const asker: Asker = {
      owner,
      endpoints,
      want: request.numwant,
      now: clock.now() / 1000,
      random: Math.floor(options.random() * 0x1_0000_0000),
    }
    const warningMessage = warning === undefined ? undefined : WARNINGS[warning].message
    const complete = answer?.complete ?? 0
    const incomplete = answer?.incomplete ?? 0
    const downloaded = answer?.completed ?? 0
    const { trackerId, noPeerId } = request
    if (!request.compact) {
      const peers = answer === undefined ? [] : listPeers(answer, asker)
      const list = { complete, incomplete, downloaded, interval, minInterval, externalIp, trackerId, peers, noPeerId }
      return announceListReply({ ...list, warning: warningMessage })
    }
    const { peers, peers6 } = answer === undefined ? NO_PEERS : selectPeers(answer, asker)
    // One literal and no spread: this object is made for nearly every request there is.
    return announceReply({
      complete,
      incomplete,
      downloaded,
      interval,
      minInterval,
      externalIp,
      trackerId,
      warning: warningMessage,
      peers,
      peers6,
    })
  }

  const announce = async (message: IncomingMessage, response: ServerResponse, target: Target): Promise<void> => {
    const parsed = parseAnnounceQuery(target.rawQuery)
    if (!parsed.ok) {
      refuse(response, 'announce', announces.refuse(parsed.failure))
      return
    }
    const { request } = parsed
    const address = addressFromText(options.addressOf(message))
    if (address === undefined) {
      refuse(response, 'announce', announces.refuse('address_not_usable'))
      return
    }
    const outcome = await announces.announce(request, target.passkey, address)
    if (outcome.failure !== undefined) {
      refuse(response, 'announce', outcome)
      return
    }
    counters.announced(request.event)
    if (outcome.warning !== undefined) counters.warned(outcome.warning)
    if (outcome.answer?.rejoined === true) counters.noticed('rejoined')
    if (outcome.answer?.implausible === true) counters.noticed('implausible')
    send(response, 200, present(request, outcome, address))
  }

  const scrape = async (response: ServerResponse, target: Target): Promise<void> => {
    const parsed = parseScrapeQuery(target.rawQuery)
    const found = parsed.ok ? await scrapes.scrape(parsed.request, target.passkey) : parsed.failure
    if (typeof found === 'string') {
      refuse(response, 'scrape', announces.refuse(found))
      return
    }
    counters.scraped(found.length)
    send(response, 200, scrapeReply(found, SCRAPE_INTERVAL))
  }

  const fail = (response: ServerResponse, action: 'announce' | 'scrape', error: unknown): void => {
    const away = error instanceof UnavailableError
    if (!away) options.logger.error({ err: error, action }, 'an announce or scrape failed')
    if (!response.headersSent)
      refuse(response, action, announces.refuse(away ? 'tracker_unavailable' : 'internal_error'))
  }

  const answer = (request: IncomingMessage, response: ServerResponse): boolean => {
    if (request.method !== 'GET' || request.url === undefined) return false
    const target = parseTrackerTarget(request.url)
    if (target === undefined) return false
    const { action } = target
    if (!target.ok) refuse(response, action, announces.refuse(target.failure))
    else
      (action === 'announce' ? announce(request, response, target) : scrape(response, target)).catch((error: unknown) =>
        fail(response, action, error),
      )
    return true
  }

  const answerMalformed = (packet: Buffer | undefined): string | undefined => {
    const [line = ''] = packet?.toString('latin1').split('\r\n', 1) ?? []
    const [, path] = /^GET ([^ ?]*)/.exec(line) ?? []
    const target = path === undefined ? undefined : parseTrackerTarget(path)
    if (target === undefined) return undefined
    const failure = line.length > LONG_LINE ? 'query_too_long' : 'invalid_query'
    const body = refusalOf(target.action, announces.refuse(failure)).toString('latin1')
    return `HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: ${String(body.length)}\r\nConnection: close\r\n\r\n${body}`
  }

  return { answer, answerMalformed }
}

type Target = Extract<TrackerTarget, { ok: true }>

function send(response: ServerResponse, status: number, body: Buffer, retryAfter?: number): void {
  const headers = ['Content-Type', 'text/plain', 'Content-Length', String(body.length), 'Cache-Control', 'no-store']
  if (retryAfter !== undefined) headers.push('Retry-After', String(retryAfter))
  response.writeHead(status, headers)
  // As a latin1 string the body leaves in one write with the head; a buffer would be a second piece.
  response.end(body.toString('latin1'), 'latin1')
}
