/** Escapes every byte, the form in which nothing can be misread. */
export function escapeAll(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')
}

export const INFO_HASH = Buffer.from('000102030405060708090a0b0c0d0e0f10fdfeff', 'hex')
export const PEER_ID = Buffer.from('-qB4630-\x00\xff%&=?+ab5xy', 'latin1')
export const PASSKEY = 'abcdef0123456789abcdef0123456789abcdef01'

/** A complete announce; `overrides` replace parameters, and `undefined` leaves one out. Values are raw. */
export function announceQuery(overrides: Record<string, string | undefined> = {}): string {
  const parameters: Record<string, string | undefined> = {
    info_hash: escapeAll(INFO_HASH),
    peer_id: escapeAll(PEER_ID),
    port: '6881',
    uploaded: '0',
    downloaded: '0',
    left: '1000',
    ...overrides,
  }
  return Object.entries(parameters)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${value ?? ''}`)
    .join('&')
}
