// The constants of the only profile of this package, shared by signer and verifier.

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
