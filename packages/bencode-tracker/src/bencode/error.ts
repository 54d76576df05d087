/** The codes of {@link BencodeError}, with the beginning of the message. */
export const BENCODE_ERRORS = {
  input_too_large: 'The input is larger than allowed',
  unexpected_end: 'The input ends inside a value',
  unexpected_byte: 'No value starts with this byte',
  trailing_data: 'There is data after the value',
  integer_not_canonical: 'The integer is not canonical: no digits, a leading zero, -0 or a foreign character',
  integer_out_of_range: 'The integer is beyond 2^53 - 1',
  length_not_canonical: 'The string length is not canonical: a leading zero or a foreign character',
  string_too_long: 'The string is longer than allowed',
  too_deep: 'Lists and dictionaries are nested deeper than allowed',
  too_many_values: 'There are more values than allowed',
  key_not_a_string: 'A dictionary key is not a string',
  keys_not_sorted: 'The dictionary keys are not in ascending order',
  duplicate_key: 'The dictionary has the same key twice',
  not_encodable: 'The value has no bencoded form',
} as const

export type BencodeErrorCode = keyof typeof BENCODE_ERRORS

/** The only error of the decoder and the encoder. */
export class BencodeError extends Error {
  override readonly name = 'BencodeError'
  readonly code: BencodeErrorCode
  /** Byte offset of the error in the input; 0 for the encoder. */
  readonly offset: number

  constructor(code: BencodeErrorCode, offset: number) {
    super(`${BENCODE_ERRORS[code]} (at byte ${offset})`)
    this.code = code
    this.offset = offset
  }
}
