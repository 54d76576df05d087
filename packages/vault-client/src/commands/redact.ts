import { Transform } from 'node:stream'
import { createPatterns, type Pattern } from './patterns.ts'

/** Shorter values are too common in output: replacing them would garble it and reveal them. */
export const MIN_REDACTED = 4

/** The keys whose values are too short to redact. Empty values need no redaction. */
export function notRedacted(secrets: Readonly<Record<string, string>>): readonly string[] {
  return Object.keys(secrets).filter((key) => {
    const { length } = secrets[key] ?? ''
    return length > 0 && length < MIN_REDACTED
  })
}

/**
 * Replaces the values of secrets in a stream with `[redacted:KEY]`. Recognizes values as they are, trimmed, each of
 * their lines, and their spellings in JSON, URLs, HTML, shells, hex and base64, even within longer base64. All
 * characters of overlapping values are replaced. The possible beginning of a value is held back until more of the
 * stream arrives.
 */
export function createRedactor(secrets: Readonly<Record<string, string>>): Transform {
  const patterns = createPatterns(patternsOf(secrets))
  let held: Buffer = Buffer.alloc(0)
  /** The number of bytes of `held` that belong to an already replaced value. */
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

/** All spellings of all values. A spelling of several values belongs to the first key. */
function patternsOf(secrets: Readonly<Record<string, string>>): readonly Pattern[] {
  const keys = new Map<string, string>()
  for (const [key, value] of Object.entries(secrets))
    for (const spelling of spellings(value)) if (!keys.has(spelling)) keys.set(spelling, key)
  return [...keys].map(([spelling, key]) => ({ key, bytes: Buffer.from(spelling) }))
}

function spellings(value: string): readonly string[] {
  // The command receives UTF-8, in which a lone surrogate becomes U+FFFD.
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

/**
 * Base64 of the bytes alone, and within longer data. Three bytes are four characters, so there are three alignments.
 * Characters that contain bits of neighbouring bytes are left out.
 */
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

/** The spellings of double and single quotes by common HTML and XML serializers. */
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

/**
 * Spellings within single quotes (with two ways to escape one), within double quotes, with backslashes, and as `$'…'`.
 */
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
