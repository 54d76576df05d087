import { Transform } from 'node:stream'
import { createPatterns, type Pattern } from './patterns.ts'

/** Shorter values are too common in any output: replacing them would destroy it and tell them by that. */
export const MIN_REDACTED = 4

/** The keys whose values are too short to be replaced. An empty value tells nothing. */
export function notRedacted(secrets: Readonly<Record<string, string>>): readonly string[] {
  return Object.keys(secrets).filter((key) => {
    const { length } = secrets[key] ?? ''
    return length > 0 && length < MIN_REDACTED
  })
}

/**
 * Replaces the values of secrets in what passes through by `[redacted:KEY]`: as they are, without the spaces around them, and
 * as JSON, URLs, HTML, shells, hex and base64 write them, the last also as a part of something longer; of values with line breaks also each line. Of values that overlap, all characters are
 * replaced. What may be the beginning of a value is held back until more comes, so that none gets through in two parts.
 */
export function createRedactor(secrets: Readonly<Record<string, string>>): Transform {
  const patterns = createPatterns(patternsOf(secrets))
  let held: Buffer = Buffer.alloc(0)
  /** How many bytes of `held` belong to a value that was replaced already. */
  let replaced = 0

  const redact = (text: Buffer, isEnd: boolean): Buffer => {
    const shown: Buffer[] = []
    let until = replaced
    let at = 0
    for (; at < text.length; at++) {
      const { longest, isOpen } = patterns.at(text, at)
      if (isOpen && !isEnd) break
      const end = at + (longest?.bytes.length ?? 0)
      if (longest !== undefined && end > until) {
        shown.push(Buffer.from(`[redacted:${longest.key}]`))
        until = end
      } else if (at >= until) {
        const next = Math.max(at + 1, patterns.nextCandidate(text, at + 1))
        shown.push(text.subarray(at, next))
        at = next - 1
      }
    }
    held = text.subarray(at)
    replaced = Math.max(0, until - at)
    return Buffer.concat(shown)
  }

  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      done(null, redact(Buffer.concat([held, chunk]), false))
    },
    flush(done) {
      done(null, redact(held, true))
    },
  })
}

/** Every spelling of every value, each once, of the first key that has it. */
function patternsOf(secrets: Readonly<Record<string, string>>): readonly Pattern[] {
  const keys = new Map<string, string>()
  for (const [key, value] of Object.entries(secrets))
    for (const spelling of spellings(value)) if (!keys.has(spelling)) keys.set(spelling, key)
  return [...keys].map(([spelling, key]) => ({ key, bytes: Buffer.from(spelling) }))
}

function spellings(value: string): readonly string[] {
  // As the command gets it: half of a character becomes a replacement character.
  const text = Buffer.from(value).toString()
  const lines = text.includes('\n') ? text.split(/\r?\n/) : []
  return [text, text.trim(), ...lines].flatMap(encodings).filter(({ length }) => length >= MIN_REDACTED)
}

function encodings(text: string): readonly string[] {
  if (text.length < MIN_REDACTED) return []
  const bytes = Buffer.from(text)
  const json = JSON.stringify(text).slice(1, -1)
  const url = encodeURIComponent(text)
  const hex = bytes.toString('hex')
  return [
    ...[text, json, json.replace(/[\u007f-\uffff]/g, escapeOf), json.replaceAll('/', String.raw`\/`)],
    ...[url, url.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase())],
    new URLSearchParams([['', text]]).toString().slice(1),
    ...[hex, hex.toUpperCase()],
    ...base64Spellings(bytes),
    ...htmlSpellings(text),
    ...shellSpellings(text),
  ]
}

/** Alone, and within something longer: three bytes are four characters, so there are three ways to begin. What a neighbour shares is left out. */
function base64Spellings(bytes: Buffer): readonly string[] {
  const whole = bytes.toString('base64')
  const inside = [0, 1, 2].map((offset) => {
    const padded = Buffer.concat([Buffer.alloc(offset), bytes])
      .toString('base64')
      .replace(/=+$/, '')
    const isShared = (offset + bytes.length) % 3 !== 0
    return padded.slice([0, 2, 3][offset], isShared ? -1 : undefined)
  })
  return [whole, whole.replace(/=+$/, ''), ...inside].flatMap((each) => [
    each,
    each.replaceAll('+', '-').replaceAll('/', '_'),
  ])
}

/** As serialisers of HTML and XML write text and attributes, the names that each uses for quotes. */
const QUOTES = [
  ['"', "'"],
  ['&quot;', "'"],
  ['&quot;', '&#39;'],
  ['&quot;', '&#x27;'],
  ['&quot;', '&#039;'],
  ['&quot;', '&apos;'],
  ['&#34;', '&#39;'],
] as const

function htmlSpellings(text: string): readonly string[] {
  const escapedText = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  return QUOTES.map(([double, single]) => escapedText.replaceAll('"', double).replaceAll("'", single))
}

/** Between single quotes (two ways to write one), between double quotes, with backslashes, and as `$'…'`. */
function shellSpellings(text: string): readonly string[] {
  const ansi = text.replace(/['\\]/g, String.raw`\$&`)
  return [
    ...[String.raw`'\''`, `'"'"'`].map((quote) => text.replaceAll("'", quote)),
    text.replace(/["$`\\]/g, String.raw`\$&`),
    text.replace(/[^\w@%+=:,./~\u0080-\uffff-]/g, String.raw`\$&`),
    ansi.replaceAll('\n', String.raw`\n`).replaceAll('\t', String.raw`\t`).replaceAll('\r', String.raw`\r`),
  ]
}

function escapeOf(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
