import { type Format, jsonAttributes } from '../format.ts'
import { buildXml } from '../xml/build-xml.ts'
import { escapeXml } from '../xml/escape-xml.ts'

/**
 * The errors of this indexer. Codes and texts are those of the Newznab Web API, "Newznab Error Codes", except that an
 * unknown function is 300 instead of 202. Applications compare the whole text of 500, and check that the text of 200
 * begins with `Missing parameter`.
 */
const ERRORS = {
  incorrectCredentials: { code: 100, status: 401, description: 'Incorrect user credentials' },
  accountSuspended: { code: 101, status: 403, description: 'Account suspended' },
  notAuthorized: { code: 102, status: 403, description: 'Insufficient privileges/not authorized' },
  missingParameter: { code: 200, status: 400, description: 'Missing parameter' },
  incorrectParameter: { code: 201, status: 400, description: 'Incorrect parameter' },
  noSuchFunction: { code: 300, status: 400, description: 'No such function' },
  noSuchItem: { code: 300, status: 404, description: 'No such item' },
  requestLimitReached: { code: 500, status: 429, description: 'Request limit reached' },
  unknownError: { code: 900, status: 500, description: 'Unknown error' },
  apiDisabled: { code: 910, status: 403, description: 'API Disabled' },
} as const

export type TorznabErrorKind = keyof typeof ERRORS

export const TORZNAB_ERROR_KINDS = Object.keys(ERRORS) as readonly TorznabErrorKind[]

export type TorznabError = {
  readonly kind: TorznabErrorKind
  readonly code: number
  /** The corresponding HTTP status. */
  readonly status: number
  readonly description: string
}

/** @param parameter the name of the incorrect parameter, which is appended to the description */
export function torznabError(kind: TorznabErrorKind, parameter?: string): TorznabError {
  const { description, ...rest } = ERRORS[kind]
  return { kind, ...rest, description: parameter === undefined ? description : `${description}: ${parameter}` }
}

/** Writes the body of an error (Newznab Web API, "Error code example"). */
export function writeError({ code, description }: TorznabError, format: Format = 'xml'): string {
  if (format === 'json') return JSON.stringify({ error: jsonAttributes({ code, description }) })
  return buildXml({ error: { '@code': escapeXml(code), '@description': escapeXml(description) } })
}
