const HOST = /^(\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9._-]{1,253})(?::([1-9][0-9]{0,4}))?$/
const DEFAULT_PORT = { http: '80', https: '443' }

/**
 * At most two spellings of `@authority` that a signer may have used for a Host header: the normalised one, in lower
 * case and without the default port (RFC 9421 section 2.2.3), then the header itself if it differs, because some
 * signers copy it. Empty if the header is not a host with an optional port.
 *
 * The grammar is narrow on purpose: with a slash or an `@` in Host, two requests could have the same `@target-uri`.
 */
export function authoritySpellings(host: string, scheme: 'http' | 'https'): readonly string[] {
  const match = HOST.exec(host)
  if (match?.[1] === undefined) return []
  const name = match[1].toLowerCase()
  const port = match[2]
  const normalised = port === undefined || port === DEFAULT_PORT[scheme] ? name : `${name}:${port}`
  return normalised === host ? [normalised] : [normalised, host]
}
