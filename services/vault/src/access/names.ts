/** A project's name: 1 to 63 letters, digits, dots, dashes and underscores, starting with a letter or digit. */
export const PROJECT_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/

/** An environment's name: 1 to 64 letters, digits, dots, dashes and underscores, starting with a letter or digit. */
export const ENV = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/

/** The name of a project's key: 1 to 64 letters, digits, dots, dashes and underscores, starting with a letter or digit. */
export const KEY_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/

/** The name of a project's first key. */
export const DEFAULT_KEY = 'default'

/** The environment of a request that does not name one. */
export const DEFAULT_ENV = 'production'

/** A secret's key: 1 to 256 characters without control characters. */
export const SECRET_KEY = /^[^\p{Cc}\p{Surrogate}]{1,256}$/u
