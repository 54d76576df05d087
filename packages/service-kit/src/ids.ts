import { v7, validate, version } from 'uuid'

/**
 * A new UUIDv7 (RFC 9562 section 5.7): sorts by creation time, so it also serves as a page cursor.
 *
 * @returns 36 characters, lower case
 */
export function newId(): string {
  return v7()
}

/** Whether a string is a UUIDv7 as we print it. Anything else is an unknown id, never a database error. */
export function isId(text: string): boolean {
  return validate(text) && version(text) === 7 && text === text.toLowerCase()
}
