/** The addresses under which this vault is reached: hosts with their ports. */
export type Authorities = {
  /** Whether a Host header, or what a proxy forwards of it, names this vault. */
  isOurs(host: string): boolean
}

/** A host with an optional port, as in a Host header (RFC 9110 section 7.2). */
const LOOPBACK = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::[0-9]{1,5})?$/

const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' }

/**
 * Reads the public addresses of the vault.
 *
 * @param list URLs separated by commas, each of a scheme, a host and an optional port
 * @returns undefined when one of them is something else
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

/**
 * The authorities of public addresses. A URL without a port stands for the default port of its scheme, written or not.
 * Without any URL only names of the loopback interface are ours, with any port: nobody else is reached under those.
 */
export function createAuthorities(publicUrls: readonly URL[]): Authorities {
  if (publicUrls.length === 0) return { isOurs: (host) => LOOPBACK.test(host.toLowerCase()) }
  const known = new Set(
    publicUrls.flatMap(({ protocol, hostname, port }) =>
      port === '' ? [hostname, `${hostname}:${DEFAULT_PORTS[protocol] ?? ''}`] : [`${hostname}:${port}`],
    ),
  )
  return { isOurs: (host) => known.has(host.toLowerCase()) }
}
