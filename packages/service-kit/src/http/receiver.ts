import { type LookupAddress, type LookupOptions, lookup as lookupName } from 'node:dns'
import { Resolver } from 'node:dns/promises'
import { type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import type { LookupFunction } from 'node:net'
import type { Attempt, Send } from '../core/delivery-schedule.ts'
import { isError } from '../core/errors.ts'
import { addressOf, isPublicAddress } from './public-address.ts'

/** For the whole attempt: name, connection, request and response. */
const TIMEOUT_MS = 10_000
/** For one of two tries. */
const QUERY_TIMEOUT_MS = 3_000
/** The maximum number of bytes to read of a response. Only its status matters. */
const MAX_ANSWER_BYTES = 4 * 1024

type OnAddresses = (error: NodeJS.ErrnoException | null, addresses: readonly LookupAddress[]) => void

function lookupAddresses(hostname: string, options: LookupOptions, onAddresses: OnAddresses): void {
  // The types leave out that there are no addresses in case of an error.
  lookupName(hostname, { ...options, all: true }, (error, found: LookupAddress[] | undefined) =>
    onAddresses(error, found ?? []),
  )
}

/**
 * Asks DNS servers without the system's resolver, which uses one of two threads for as long as a server does not respond.
 * Connections to Postgres and Redis need these threads too.
 */
function queryAddresses(resolver: Resolver): typeof lookupAddresses {
  return (hostname, _options, onAddresses) => {
    let problem: Error | null = null
    const ask = async (family: 4 | 6, query: Promise<string[]>): Promise<LookupAddress[]> => {
      const found = await query.catch((error: unknown) => {
        problem = isError(error) ? error : null
        return []
      })
      return found.map((address) => ({ address, family }))
    }
    const queries = [ask(4, resolver.resolve4(hostname)), ask(6, resolver.resolve6(hostname))]
    void Promise.all(queries).then((found) => {
      const addresses = found.flat()
      onAddresses(addresses.length === 0 ? problem : null, addresses)
    })
  }
}

class RefusedAddress extends Error {
  override readonly name = 'RefusedAddress'
}

/** Whether a service may connect to the host of a URL, as far as that is known without resolving it. */
export function mayConnectTo(allowPrivate: boolean): (hostname: string) => boolean {
  return (hostname) => {
    const address = addressOf(hostname)
    return allowPrivate || (address === undefined ? !isLocalName(hostname) : isPublicAddress(address))
  }
}

function isLocalName(hostname: string): boolean {
  return /(^|\.)localhost\.?$/i.test(hostname)
}

/**
 * Creates the client that sends deliveries. It connects to exactly the addresses that it has checked, so a name cannot
 * resolve to another one in between. It follows no redirects, uses no proxy and keeps no connections.
 *
 * @param options `allowPrivate` also accepts addresses that are not public, and `http://`; `dnsServers` are those of the system by
 *   default; `resolve` finds addresses; `times` are read for each attempt
 */
export function createReceiverClient({
  allowPrivate,
  dnsServers,
  resolve,
  times = { timeoutMs: TIMEOUT_MS },
}: {
  allowPrivate: boolean
  times?: { readonly timeoutMs: number } | undefined
  dnsServers?: readonly string[]
  resolve?: typeof lookupAddresses
}): Send {
  const mayConnect = mayConnectTo(allowPrivate)
  // Names of a private network may be in the hosts file only.
  const find = resolve ?? (allowPrivate ? lookupAddresses : undefined)
  const lookupWith =
    (resolver: Resolver): LookupFunction =>
    (hostname, options, callback) => {
      const addressesOf = find ?? queryAddresses(resolver)
      addressesOf(hostname, options, (error, addresses) => {
        const [first] = addresses
        if (error !== null || first === undefined) callback(error ?? new Error('no address'), [])
        else if (!allowPrivate && !addresses.every(({ address }) => isPublicAddress(address)))
          callback(new RefusedAddress(), [])
        else if (options.all === true) callback(null, [...addresses])
        else callback(null, first.address, first.family)
      })
    }

  return async ({ url, headers, body, signal }) => {
    const target = new URL(url)
    const isPlain = target.protocol === 'http:'
    if ((isPlain && !allowPrivate) || !mayConnect(target.hostname)) return { problem: 'refused address' }
    const timeout = AbortSignal.timeout(times.timeoutMs)
    const resolver = new Resolver({ timeout: QUERY_TIMEOUT_MS, tries: 2 })
    if (dnsServers !== undefined) resolver.setServers(dnsServers)
    return new Promise<Attempt>((settle) => {
      const request = (isPlain ? requestHttp : requestHttps)(target, {
        method: 'POST',
        headers: { ...headers, 'Content-Length': body.length },
        agent: false,
        lookup: lookupWith(resolver),
        signal: AbortSignal.any([signal, timeout]),
      })
      const fail = (error: unknown): void => settle({ problem: timeout.aborted ? 'timeout' : problemOf(error) })
      request.once('error', fail)
      request.once('response', (response) => {
        readSome(response, fail, () => settle(answerOf(response)))
      })
      // Otherwise Node closes the connection without an error or a response.
      request.once('upgrade', (response, socket) => {
        socket.destroy()
        settle(answerOf(response))
      })
      request.end(body)
    }).finally(() => resolver.cancel())
  }
}

function readSome(response: IncomingMessage, fail: (error: unknown) => void, done: () => void): void {
  let bytes = 0
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes <= MAX_ANSWER_BYTES) return
    done()
    response.destroy()
  })
  response.once('end', done)
  response.once('error', fail)
  response.once('close', () => fail(new Error('closed')))
}

function answerOf({ statusCode = 0, headers }: IncomingMessage): Attempt {
  const seconds = /^\d{1,6}$/.exec(headers['retry-after'] ?? '')?.[0]
  return { status: statusCode, ...(seconds !== undefined && { retryAfterMs: Number(seconds) * 1_000 }) }
}

/** A short reason for the log. Messages of errors are left out: they may repeat the URL. */
function problemOf(error: unknown): string {
  if (error instanceof RefusedAddress) return 'refused address'
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : ''
  if (/^(ENOTFOUND|ENODATA|EAI_)/.test(code)) return 'unknown host'
  if (/^(ERR_TLS|ERR_SSL|CERT_|UNABLE_TO|SELF_SIGNED|DEPTH_ZERO|HOSTNAME|EPROTO)/.test(code)) return 'TLS failed'
  return /^[A-Z][A-Z0-9_]{1,40}$/.test(code) ? `no response (${code})` : 'no response'
}
