import { randomFillSync } from 'node:crypto'
import { v7, validate, version } from 'uuid'

// Random bytes for 256 ids at a time: a call for each id would cost more than the rest of its creation.
const random = new Uint8Array(16 * 256)
let used = random.length

let milliseconds = 0
let sequence = 0

/**
 * A new UUIDv7 (RFC 9562 section 5.7) in lower case. Ids sort by creation time, so they also serve as page cursors. Within a
 * process they increase strictly, even in the same millisecond or when the clock is set back (section 6.2, method 1).
 */
export function newId(): string {
  if (used === random.length) {
    randomFillSync(random)
    used = 0
  }
  const bytes = random.subarray(used, (used += 16))
  const now = Date.now()
  if (now > milliseconds) {
    milliseconds = now
    // The counter starts with 31 random bits of 32, so that it has room to count up.
    sequence = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0) >>> 1
  } else sequence++
  return v7({ random: bytes, msecs: milliseconds, seq: sequence })
}

/** Whether a text is a lower-case UUIDv7. Any other text is an unknown id and must not reach a query as a uuid. */
export function isId(text: string): boolean {
  return validate(text) && version(text) === 7 && text === text.toLowerCase()
}
