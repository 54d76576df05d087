import { SignatureError } from './errors.ts'

const MAX_FIELD_LENGTH = 1024
const PRINTABLE = /^[\x20-\x7e]*$/

const SIGNATURE_FIELDS = ['signature', 'signature-input', 'signature-agent'] as const
const FIELDS = [...SIGNATURE_FIELDS, 'host', 'content-digest'] as const
type Field = (typeof FIELDS)[number]

/** Reads one field's only value. */
export type FieldReader = (field: Field) => string

/**
 * Finds the fields this profile reads in Node's flat `rawHeaders`.
 *
 * Fails with `missing_signature` when one of the three signature fields is absent or empty. The reader it returns fails
 * with `invalid_signature` unless the field it is asked for occurs exactly once, in printable ASCII, in at most 1 KiB.
 */
export function readFields(rawHeaders: readonly string[]): FieldReader {
  const found = new Map<string, string[]>(FIELDS.map((field) => [field, []]))
  for (let i = 0; i < rawHeaders.length; i += 2)
    found.get((rawHeaders[i] ?? '').toLowerCase())?.push(rawHeaders[i + 1] ?? '')

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
