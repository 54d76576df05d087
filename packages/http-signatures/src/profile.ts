// The only profile of this package: its constants and its signature base, shared by signer and verifier.

export const LABEL = 'sig1'
export const AGENT_SUFFIX = '.agents.vault.local'
export const LIFETIME_SECONDS = 300
export const WINDOW_MS = 300_000

export const COVERED = '("@method" "@authority" "@target-uri")'
export const COVERED_WITH_CONTENT = '("@method" "@authority" "@target-uri" "content-digest")'

/** A method is a token (RFC 9110 section 9.1). Other characters, especially line breaks, could forge base lines. */
export const METHOD = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/

/**
 * A project name: the characters of a structured-field token (RFC 9651 section 3.3.4), which need no escaping in
 * `keyid`. Unlike a token, it may start with a digit.
 */
export const PROJECT = /^[!#$%&'*+.^_`|~0-9A-Za-z:/-]{1,255}$/

export const NONCE = /^[0-9A-Fa-f]{32}$/
export const HEX_KEY = /^[0-9A-Fa-f]{64}$/

/** A component identifier and its value, for example `['@method', 'GET']`. */
export type Component = readonly [name: string, value: string]

/** The covered values of this package's profile. */
export type ProfileValues = {
  readonly method: string
  readonly authority: string
  readonly targetUri: string
  readonly contentDigest: string | undefined
}

/**
 * Builds a signature base (RFC 9421 section 2.5): one line per component, `@signature-params` last, no final newline.
 *
 * Callers must ensure that no value contains a line break, which could forge another component.
 */
export function signatureBase(components: readonly Component[], signatureParams: string): string {
  let base = ''
  for (const [name, value] of components) base += `"${name}": ${value}\n`
  return `${base}"@signature-params": ${signatureParams}`
}

/** The components of the profile in the only allowed order. */
export function profileComponents(values: ProfileValues): readonly Component[] {
  const components: Component[] = [
    ['@method', values.method],
    ['@authority', values.authority],
    ['@target-uri', values.targetUri],
  ]
  if (values.contentDigest !== undefined) components.push(['content-digest', values.contentDigest])
  return components
}

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
