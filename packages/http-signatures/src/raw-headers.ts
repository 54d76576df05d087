import { SignatureError } from './errors.ts'

const MAX_FIELD_LENGTH = 1024
const PRINTABLE = /^[\x20-\x7e]*$/

const SIGNATURE_FIELDS = ['signature', 'signature-input', 'signature-agent'] as const
type Field = (typeof SIGNATURE_FIELDS)[number] | 'host' | 'content-digest'
const FIELDS: ReadonlySet<string> = new Set<Field>([...SIGNATURE_FIELDS, 'host', 'content-digest'])

/** Reads the only value of a field. */
export type FieldReader = (field: Field) => string

/**
 * Finds the fields of the profile in Node's flat `rawHeaders`.
 *
 * @throws {SignatureError} `missing_signature` if one of the three signature fields is missing or empty. The returned
 * reader throws `invalid_signature` unless a field occurs exactly once, in printable ASCII, with at most 1 KiB.
 */
export function readFields(rawHeaders: readonly string[]): FieldReader {
  const found = new Map<string, string[]>()
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = (rawHeaders[i] ?? '').toLowerCase()
    if (!FIELDS.has(name)) continue
    const value = rawHeaders[i + 1] ?? ''
    const values = found.get(name)
    if (values === undefined) found.set(name, [value])
    else values.push(value)
  }

  for (const field of SIGNATURE_FIELDS) {
    if (!found.get(field)?.some((value) => value !== '')) {
      throw new SignatureError('missing_signature', `${field} is missing`)
    }
  }

  return (field) => {
    const [value, ...others] = found.get(field) ?? []
    if (value === undefined || others.length > 0) {
      throw new SignatureError('invalid_signature', `${field} must occur exactly once`)
    }
    if (value.length > MAX_FIELD_LENGTH) throw new SignatureError('invalid_signature', `${field} is over 1 KiB`)
    if (!PRINTABLE.test(value)) throw new SignatureError('invalid_signature', `${field} is not printable ASCII`)
    return value
  }
}
