import { apiError } from './errors.ts'

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * Parses JSON (RFC 8259) strictly: bytes that are not UTF-8, lone surrogates and objects with duplicate members are
 * refused, because readers disagree about them.
 *
 * @throws ApiError invalid_request, without any of the text
 */
export function parseStrictJson(bytes: Uint8Array): unknown {
  const text = decode(bytes)
  const value = parse(text)
  inspectTokens(text)
  return value
}

function decode(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes)
  } catch {
    throw apiError('invalid_request', 'The body is not UTF-8.')
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw apiError('invalid_request', 'The body is not JSON.')
  }
}

/** A string, or one of the characters that structure JSON. */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]/g

/** Inspects the tokens of valid JSON, tracking the member names of every open object. */
function inspectTokens(text: string): void {
  const open: (Set<string> | undefined)[] = []
  let name = ''
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === '{') open.push(new Set())
    else if (token === '[') open.push(undefined)
    else if (token === '}' || token === ']') open.pop()
    else if (token === ':') addName(open.at(-1), name)
    else if (token !== ',') name = unquote(token)
  }
}

function addName(names: Set<string> | undefined, name: string): void {
  if (names?.has(name) === true) throw apiError('invalid_request', 'The JSON body has a duplicate member.')
  names?.add(name)
}

function unquote(token: string): string {
  if (!token.includes('\\')) return token.slice(1, -1)
  const text = String(JSON.parse(token))
  if (/\p{Surrogate}/u.test(text)) throw apiError('invalid_request', 'The body contains a lone surrogate.')
  return text
}
