// The constants of the one profile this package speaks, shared by signer and verifier.

export const LABEL = 'sig1'
export const AGENT_SUFFIX = '.agents.vault.local'
export const LIFETIME_SECONDS = 300
export const WINDOW_MS = 300_000

export const COVERED = '("@method" "@authority" "@target-uri")'
export const COVERED_WITH_CONTENT = '("@method" "@authority" "@target-uri" "content-digest")'

/** A method is a token (RFC 9110 section 9.1). Anything else, a line break above all, could forge base lines. */
export const METHOD = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/

/**
 * A project name on the wire: the characters of a structured-field token (RFC 9651 section 3.3.4), without its rule for
 * the first one, because a name may start with a digit. None of them needs escaping in `keyid`.
 */
export const PROJECT = /^[!#$%&'*+.^_`|~0-9A-Za-z:/-]{1,255}$/

export const NONCE = /^[0-9A-Fa-f]{32}$/
export const HEX_KEY = /^[0-9A-Fa-f]{64}$/
