/** The part of the npm package `bencode` (which ships no types) that this project uses. */
declare module 'bencode' {
  const bencode: {
    /** Encodes strings (as UTF-8), integers, byte arrays, arrays and plain objects. */
    encode(value: unknown): Uint8Array
    /** Decodes without bounds or canonical checks: only for trusted data. */
    decode(data: Uint8Array): unknown
  }
  export default bencode
}
