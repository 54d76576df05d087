import type { IncomingMessage } from 'node:http'
import type { TrustedProxies } from '@vault-and-tracker/service-kit/http/client-address'
import type { RequestHandler } from 'express'
import { apiError } from '../errors.ts'
import { forwardedHost } from './input.ts'

/** A Host header (RFC 9110 section 7.2) of the loopback interface. */
const LOOPBACK = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::[0-9]{1,5})?$/

const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' }

/**
 * Parses the public URLs of the vault.
 *
 * @param list comma-separated URLs, each of a scheme, a host and an optional port
 * @returns undefined if any of them is invalid
 */
export function parsePublicUrls(list: string): readonly URL[] | undefined {
  const texts = list.split(',').map((text) => text.trim())
  const urls = texts.map((text) => (URL.canParse(text) ? new URL(text) : undefined))
  return urls.every((url) => url !== undefined && isOrigin(url)) ? (urls as readonly URL[]) : undefined
}

function isOrigin({ protocol, username, password, pathname, search, hash }: URL): boolean {
  return (
    protocol in DEFAULT_PORTS && pathname === '/' && [username, password, search, hash].every((part) => part === '')
  )
}

/** Whether a Host header is that of a URL, with or without the default port. */
export function isAuthorityOf({ protocol, host, port }: URL, header: string): boolean {
  const given = header.toLowerCase()
  return given === host || (port === '' && given === `${host}:${DEFAULT_PORTS[protocol] ?? ''}`)
}

/**
 * Refuses requests for other hosts (RFC 9110 section 15.5.20), so that a signature that another host received is not valid
 * here. Without public URLs, only loopback names are accepted, with any port. Requests without Host are not refused here,
 * but no signature of one is accepted.
 */
export function ownAuthoritiesOnly(publicUrls: readonly URL[], proxies: TrustedProxies): RequestHandler {
  const isOwn = (host: string): boolean =>
    publicUrls.length === 0 ? LOOPBACK.test(host.toLowerCase()) : publicUrls.some((url) => isAuthorityOf(url, host))
  return (request, _response, next) => {
    const forwarded = forwardedHost(request, proxies)
    const hosts = forwarded === undefined ? hostsOf(request) : [forwarded]
    if (!hosts.every(isOwn)) throw apiError('misdirected_request')
    next()
  }
}

/** All Host headers; `headers.host` is only the first of them. */
function hostsOf({ rawHeaders, headers: { host } }: IncomingMessage): readonly string[] {
  const all: string[] = []
  for (let i = 0; i + 1 < rawHeaders.length; i += 2)
    if (rawHeaders[i]?.length === 4 && rawHeaders[i]?.toLowerCase() === 'host') all.push(rawHeaders[i + 1] ?? '')
  return all.length > 0 || host === undefined ? all : [host]
}
