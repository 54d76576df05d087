import { SignatureError } from './errors.ts'

const MAX_FIELD_LENGTH = 1024
const PRINTABLE = /^[\x20-\x7e]*$/

const SIGNATURE_FIELDS = ['signature', 'signature-input', 'signature-agent'] as const
type Field = (typeof SIGNATURE_FIELDS)[number] | 'host' | 'content-digest'
const FIELDS: ReadonlySet<string> = new Set<Field>([...SIGNATURE_FIELDS, 'host', 'content-digest'])

/** Reads one field's only value. */
export type FieldReader = (field: Field) => string

/**
 * Finds the fields this profile reads in Node's flat `rawHeaders`.
 *
 * Fails with `missing_signature` when one of the three signature fields is absent or empty. The reader it returns fails
 * with `invalid_signature` unless the field it is asked for occurs exactly once, in printable ASCII, in at most 1 KiB.
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
