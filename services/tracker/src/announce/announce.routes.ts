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
  type TrackerTarget,
} from '@vault-and-tracker/bencode-tracker'
import type { ClientConnection } from '@vault-and-tracker/service-kit/client-address'
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
  readonly addressOf: (sender: Sender) => string
}

/** Who sent a request, as far as it decides the address it counts for. */
export type Sender = ClientConnection

/** A reply, whatever writes it. `retryAfter` is in seconds. */
export type Reply = { readonly status: number; readonly body: Buffer; readonly retryAfter?: number | undefined }

/** Answers announces and scrapes. */
export type AnnounceRoutes = {
  /** The reply to a GET; undefined where it is neither an announce nor a scrape. It never rejects. */
  readonly replyTo: (target: string, sender: Sender) => Promise<Reply> | undefined
  /** The whole answer to one that Node's parser refuses, by its first bytes; `undefined` for any other request. */
  readonly answerMalformed: (packet: Buffer | undefined) => string | undefined
}

/**
 * Answers announces and scrapes (BEP 3, 48) before the app: they are most of a tracker's requests, and entering Express
 * would cost several times what answering them does.
 */
export function announceRoutes({
  announces,
  scrapes,
  refusals,
  limits,
  times,
  addressOf,
}: AnnounceRouteOptions): AnnounceRoutes {
  const announce = async (sender: Sender, target: Target): Promise<Reply> => {
    const parsed = parseAnnounceQuery(target.rawQuery)
    if (!parsed.ok) return refusalReply(refusals.refuse('announce', parsed.failure))
    const address = addressFromText(addressOf(sender))
    if (address === undefined) return refusalReply(refusals.refuse('announce', 'address_not_usable'))
    const outcome = await announces.announce(parsed.request, target.passkey, address)
    if (outcome.failure !== undefined)
      return refusalReply(await limits.limitUnknownPasskeys('announce', outcome, address))
    return { status: 200, body: outcome.compact ? announceReply(outcome) : announceListReply(outcome) }
  }

  const scrape = async (sender: Sender, target: Target): Promise<Reply> => {
    const address = addressFromText(addressOf(sender)) ?? NO_ADDRESS
    const refusal = await limits.refuseScrape(address)
    if (refusal !== undefined) return refusalReply(refusal)
    const parsed = parseScrapeQuery(target.rawQuery)
    const outcome = parsed.ok
      ? await scrapes.scrape(parsed.request, target.passkey)
      : refusals.refuse('scrape', parsed.failure)
    if (outcome.failure !== undefined)
      return refusalReply(await limits.limitUnknownPasskeys('scrape', outcome, address))
    return { status: 200, body: bodyOf(outcome) }
  }

  /** A full scrape is the same list for everybody, and so is its reply. */
  const bodies = new WeakMap<readonly ScrapedTorrent[], Buffer>()
  const bodyOf = ({ torrents, minRequestInterval }: Extract<ScrapeOutcome, { failure: undefined }>): Buffer => {
    let body = bodies.get(torrents)
    if (body === undefined) bodies.set(torrents, (body = scrapeReply(torrents, minRequestInterval)))
    return body
  }

  const replyTo: AnnounceRoutes['replyTo'] = (url, sender) => {
    const target = parseTrackerTarget(url)
    if (target === undefined) return undefined
    const { action } = target
    if (!target.ok) return Promise.resolve(refusalReply(refusals.refuse(action, target.failure)))
    const startedMs = performance.now()
    const reply = action === 'announce' ? announce(sender, target) : scrape(sender, target)
    return reply
      .catch((error: unknown) => refusalReply(refusals.refuseError(action, error)))
      .finally(() => times.timeAnswer(action, (performance.now() - startedMs) / 1_000))
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

  return { replyTo, answerMalformed }
}

/** Of a request whose connection is gone. */
const NO_ADDRESS = new Uint8Array(4)

type Target = Extract<TrackerTarget, { ok: true }>

function refusalReply(refusal: Refusal): Reply {
  const { failure, interval } = refusal
  const { status } = FAILURES[failure]
  return { status, body: failureReply(failure, refusal), retryAfter: status === 429 ? interval : undefined }
}
