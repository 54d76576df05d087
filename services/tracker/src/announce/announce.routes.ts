import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  addressFromText,
  announceListReply,
  announceReply,
  FAILURES,
  failureReply,
  parseAnnounceQuery,
  parseScrapeQuery,
  parseTrackerTarget,
  type ScrapedTorrent,
  scrapeReply,
  type TrackerAction,
  type TrackerTarget,
} from '@vault-and-tracker/bencode-tracker'
import type { AddressLimits } from './address-limits.ts'
import type { Announces } from './announce.ts'
import type { AnswerTimes } from './announce-counters.ts'
import type { Refusal, Refusals } from './refusal.ts'
import type { ScrapeOutcome, Scrapes } from './scrape.ts'

/** A request line of this many bytes that does not end is too long; a shorter one holds something that HTTP forbids. */
const LONG_LINE = 8_192

/** What the routes work with. */
export type AnnounceRouteOptions = {
  readonly announces: Announces
  readonly scrapes: Scrapes
  readonly refusals: Refusals
  readonly limits: AddressLimits
  readonly times: AnswerTimes
  /** The address a request came from, as text. */
  readonly addressOf: (request: IncomingMessage) => string
}

/** Answers announces and scrapes. */
export type AnnounceRoutes = {
  /** Answers an announce or a scrape; returns false for any other request, and leaves it untouched. */
  readonly answer: (request: IncomingMessage, response: ServerResponse) => boolean
  /** The whole answer to one that Node's parser refuses, by its first bytes; `undefined` for any other request. */
  readonly answerMalformed: (packet: Buffer | undefined) => string | undefined
}

/**
 * Answers announces and scrapes (BEP 3, 48) straight from `node:http`: they are most of a tracker's requests, and
 * entering Express would cost several times what answering them does.
 */
export function announceRoutes({
  announces,
  scrapes,
  refusals,
  limits,
  times,
  addressOf,
}: AnnounceRouteOptions): AnnounceRoutes {
  const announce = async (request: IncomingMessage, response: ServerResponse, target: Target): Promise<void> => {
    const parsed = parseAnnounceQuery(target.rawQuery)
    if (!parsed.ok) {
      sendRefusal(response, refusals.refuse('announce', parsed.failure))
      return
    }
    const address = addressFromText(addressOf(request))
    if (address === undefined) {
      sendRefusal(response, refusals.refuse('announce', 'address_not_usable'))
      return
    }
    const outcome = await announces.announce(parsed.request, target.passkey, address)
    if (outcome.failure !== undefined) sendRefusal(response, await limited('announce', outcome, address))
    else send(response, 200, outcome.compact ? announceReply(outcome) : announceListReply(outcome))
  }

  /** A refusal, or another one where an address has sent too many passkeys that nobody has. */
  const limited = async (action: TrackerAction, refusal: Refusal, address: Uint8Array): Promise<Refusal> => {
    if (refusal.failure !== 'unknown_passkey') return refusal
    const wait = await limits.takeUnknownPasskey(address)
    return wait > 0 ? refusals.refuseOverLimit(wait, action, 'passkey_limit') : refusal
  }

  const scrape = async (request: IncomingMessage, response: ServerResponse, target: Target): Promise<void> => {
    const address = addressFromText(addressOf(request)) ?? NO_ADDRESS
    const wait = await limits.takeScrape(address)
    if (wait > 0) {
      sendRefusal(response, refusals.refuseOverLimit(wait, 'scrape', 'scrape_limit'))
      return
    }
    const parsed = parseScrapeQuery(target.rawQuery)
    const outcome = parsed.ok
      ? await scrapes.scrape(parsed.request, target.passkey)
      : refusals.refuse('scrape', parsed.failure)
    if (outcome.failure !== undefined) sendRefusal(response, await limited('scrape', outcome, address))
    else send(response, 200, replyTo(outcome))
  }

  /** A full scrape is the same list for everybody, and so is its reply. */
  const replies = new WeakMap<readonly ScrapedTorrent[], Buffer>()
  const replyTo = ({ torrents, minRequestInterval }: Extract<ScrapeOutcome, { failure: undefined }>): Buffer => {
    let reply = replies.get(torrents)
    if (reply === undefined) replies.set(torrents, (reply = scrapeReply(torrents, minRequestInterval)))
    return reply
  }

  const answer = (request: IncomingMessage, response: ServerResponse): boolean => {
    if (request.method !== 'GET' || request.url === undefined) return false
    const target = parseTrackerTarget(request.url)
    if (target === undefined) return false
    const { action } = target
    if (!target.ok) {
      sendRefusal(response, refusals.refuse(action, target.failure))
      return true
    }
    const startedMs = performance.now()
    const answered = action === 'announce' ? announce(request, response, target) : scrape(request, response, target)
    const time = (): void => times.timeAnswer(action, (performance.now() - startedMs) / 1_000)
    answered.then(time, (error: unknown) => {
      const refusal = refusals.refuseError(action, error)
      if (!response.headersSent) sendRefusal(response, refusal)
      time()
    })
    return true
  }

  const answerMalformed = (packet: Buffer | undefined): string | undefined => {
    const [line = ''] = packet?.toString('latin1').split('\r\n', 1) ?? []
    const [, path] = /^GET ([^ ?]*)/.exec(line) ?? []
    const target = path === undefined ? undefined : parseTrackerTarget(path)
    if (target === undefined) return undefined
    const failure = line.length > LONG_LINE ? 'query_too_long' : 'invalid_query'
    const refusal = refusals.refuse(target.action, failure)
    const body = failureReply(failure, refusal).toString('latin1')
    const head = [
      'HTTP/1.1 200 OK',
      'Content-Type: text/plain',
      `Content-Length: ${String(body.length)}`,
      'Connection: close',
    ]
    return `${head.join('\r\n')}\r\n\r\n${body}`
  }

  return { answer, answerMalformed }
}

/** Of a request whose connection is gone. */
const NO_ADDRESS = new Uint8Array(4)

type Target = Extract<TrackerTarget, { ok: true }>

function sendRefusal(response: ServerResponse, refusal: Refusal): void {
  const { failure, interval } = refusal
  const { status } = FAILURES[failure]
  const retryAfter = status === 429 ? interval : undefined
  send(response, status, failureReply(failure, refusal), retryAfter)
}

function send(response: ServerResponse, status: number, body: Buffer, retryAfter?: number): void {
  const headers = ['Content-Type', 'text/plain', 'Content-Length', String(body.length), 'Cache-Control', 'no-store']
  if (retryAfter !== undefined) headers.push('Retry-After', String(retryAfter))
  response.writeHead(status, headers)
  // As a latin1 string the body leaves in one write with the head; a buffer would be a second one.
  response.end(body.toString('latin1'), 'latin1')
}
