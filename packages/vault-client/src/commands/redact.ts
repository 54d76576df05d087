import { Transform } from 'node:stream'

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
 * Replaces the values of secrets in what passes through by `[redacted:KEY]`: as they are, and as JSON, URLs and base64 write
 * them; of values with line breaks also each line. The end of what came is held back while it may be the beginning of a
 * value, so that none gets through in two parts.
 */
export function createRedactor(secrets: Readonly<Record<string, string>>): Transform {
  const keys = new Map<string, string>()
  for (const [key, value] of Object.entries(secrets))
    for (const spelling of spellings(value)) if (!keys.has(spelling)) keys.set(spelling, key)
  // The longest first: of two values of which one is the beginning of the other, all of it is replaced.
  const values = [...keys.keys()].toSorted((a, b) => b.length - a.length)
  const found = new RegExp(values.map(escapeRegExp).join('|') || '(?!)', 'g')
  let held = ''
  const replace = (text: string): string => text.replace(found, (value) => `[redacted:${keys.get(value) ?? ''}]`)

  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      // One character a byte, so that what is cut in the middle of a character stays whole.
      const text = held + chunk.toString('latin1')
      const end = text.length - lengthOfBeginning(text, values)
      const safe = safeEnd(text, end, found)
      held = text.slice(safe)
      done(null, Buffer.from(replace(text.slice(0, safe)), 'latin1'))
    },
    flush(done) {
      done(null, Buffer.from(replace(held), 'latin1'))
    },
  })
}

function spellings(value: string): readonly string[] {
  const lines = value.includes('\n') ? value.split(/\r?\n/) : []
  return [value, ...lines].flatMap(encodings).filter(({ length }) => length >= MIN_REDACTED)
}

function encodings(value: string): readonly string[] {
  if (value.length < MIN_REDACTED) return []
  const base64 = Buffer.from(value).toString('base64')
  const texts = [
    value,
    JSON.stringify(value).slice(1, -1),
    encodeURIComponent(value),
    base64,
    base64.replace(/=+$/, ''),
  ]
  return [...new Set(texts)].map((text) => Buffer.from(text).toString('latin1'))
}

/** How many characters at the end are the beginning of a value. */
function lengthOfBeginning(text: string, values: readonly string[]): number {
  let longest = 0
  for (const value of values)
    for (let length = Math.min(value.length - 1, text.length); length > longest; length--)
      if (text.endsWith(value.slice(0, length))) longest = length
  return longest
}

/** Not in the middle of a value that is there as a whole. */
function safeEnd(text: string, end: number, found: RegExp): number {
  for (const match of text.matchAll(found))
    if (match.index < end && match.index + match[0].length > end) return match.index + match[0].length
  return end
}

function escapeRegExp(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)
}
