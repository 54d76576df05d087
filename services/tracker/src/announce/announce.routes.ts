import {
  addressFromText,
  failureReply,
  type Passkey,
  parseScrapeQuery,
  parseTrackerTarget,
  scrapeReply,
  type TrackerTarget,
} from '@vault-and-tracker/bencode-tracker'
import type { ClientConnection } from '@vault-and-tracker/service-kit/http/client-address'
import { HttpAnnounce, type HttpAnnounceOptions } from './http-announce.ts'
import { type Reply, refusalReply } from './reply.ts'
import type { Scraped, Scrapes } from './scrape.ts'

/** A rejected request line longer than this was too long; a shorter one contained characters that HTTP forbids. */
const LONG_LINE = 8_192

/** Dependencies of {@link createTrackerRequests}. */
export type TrackerRequestOptions = HttpAnnounceOptions & {
  readonly scrapes: Scrapes
  /** Returns the client's address, as text. */
  readonly addressOf: (sender: Sender) => string
}

/** The sender of a request, from which its client address is derived. */
export type Sender = ClientConnection

/** A client with one request at a time. Its first announce is reused for later ones. */
export type TrackerClient = { announce?: HttpAnnounce; send(reply: Reply): void }

/** Answers announces and scrapes over HTTP. */
export type TrackerRequests = {
  /**
   * Handles a GET request if it is an announce or a scrape.
   *
   * @returns true if it is. The client then receives exactly one reply, possibly before this returns.
   */
  take(target: string, sender: Sender, client: TrackerClient): boolean
  /** The complete response to an announce or scrape that Node's parser rejected; `undefined` for other requests. */
  answerMalformed(packet: Buffer | undefined): string | undefined
}

/**
 * Answers announces and scrapes (BEP 3, 48) without Express: they are most of a tracker's requests, and Express would
 * cost several times as much as the reply.
 */
export function createTrackerRequests(options: TrackerRequestOptions): TrackerRequests {
  const { scrapes, refusals, counters, addressOf } = options

  const scrape = async (rawQuery: string, passkey: Passkey | undefined, address: Uint8Array): Promise<Reply> => {
    const startedMs = performance.now()
    const outcome = await scrapes.scrape(parseScrapeQuery(rawQuery), passkey, address)
    counters.timeAnswer('scrape', (performance.now() - startedMs) / 1_000)
    if (outcome.failure !== undefined) return refusalReply(outcome)
    return { status: 200, body: bodyOf(outcome) }
  }

  /** A full scrape returns the same list to every client, so its body is encoded once. */
  let full: { readonly torrents: Scraped['torrents']; readonly body: Buffer } | undefined
  const bodyOf = ({ torrents, minRequestInterval, isFull }: Scraped): Buffer => {
    if (!isFull) return scrapeReply(torrents, minRequestInterval)
    if (full?.torrents !== torrents) full = { torrents, body: scrapeReply(torrents, minRequestInterval) }
    return full.body
  }

  const begin = (target: TrackerTarget, sender: Sender, client: TrackerClient): void => {
    const { action } = target
    if (!target.ok) {
      client.send(refusalReply(refusals.refuse(action, target.failure)))
      return
    }
    const { rawQuery, passkey } = target
    const address = addressFromText(addressOf(sender))
    if (action === 'announce') {
      client.announce ??= new HttpAnnounce(options, client)
      client.announce.begin(rawQuery, passkey, address)
    } else {
      void scrape(rawQuery, passkey, address ?? NO_ADDRESS)
        .catch((error: unknown) => refusalReply(refusals.refuseError('scrape', error)))
        .then((reply) => client.send(reply))
    }
  }

  return {
    take: (url, sender, client) => {
      const target = parseTrackerTarget(url)
      if (target === undefined) return false
      try {
        begin(target, sender, client)
      } catch (error) {
        client.send(refusalReply(refusals.refuseError(target.action, error)))
      }
      return true
    },

    answerMalformed: (packet) => {
      const [line = ''] = packet?.toString('latin1').split('\r\n', 1) ?? []
      const [, path] = /^GET ([^ ?]*)/.exec(line) ?? []
      const target = path === undefined ? undefined : parseTrackerTarget(path)
      if (target === undefined) return undefined
      const failure = line.length > LONG_LINE ? 'query_too_long' : 'invalid_query'
      const body = failureReply(failure, refusals.refuse(target.action, failure)).toString('latin1')
      const head = [
        'HTTP/1.1 200 OK',
        'Content-Type: text/plain',
        `Content-Length: ${String(body.length)}`,
        'Connection: close',
      ]
      return `${head.join('\r\n')}\r\n\r\n${body}`
    },
  }
}

/** Used if the connection has already closed. */
const NO_ADDRESS = new Uint8Array(4)
