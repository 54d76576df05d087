/** How many decimal digits an integer from 0 to 2^53 - 1 has. */
export function digitCount(value: number): number {
  if (value < 10) return 1
  if (value < 100) return 2
  if (value < 1000) return 3
  if (value < 10_000) return 4
  if (value < 100_000) return 5
  return String(value).length
}

/**
 * Fills a buffer whose exact length was computed beforehand. For the compact reply alone, which is most of what a
 * tracker sends: a fifth faster than putting text together and converting it.
 */
export class ByteWriter {
  readonly bytes: Buffer
  private position = 0

  constructor(length: number) {
    this.bytes = Buffer.allocUnsafe(length)
  }

  /** Bytes as they are. */
  raw(bytes: Uint8Array): void {
    this.bytes.set(bytes, this.position)
    this.position += bytes.length
  }

  /** A few bytes as they are: a loop, because the call into native code would cost more. */
  few(bytes: Uint8Array): void {
    for (let i = 0; i < bytes.length; i++) this.bytes[this.position + i] = bytes[i] ?? 0
    this.position += bytes.length
  }

  /** Text of characters up to U+00FF, one byte each. */
  latin1(text: string): void {
    this.position += this.bytes.write(text, this.position, 'latin1')
  }

  byte(byte: number): void {
    this.bytes[this.position] = byte
    this.position += 1
  }

  /** An integer from 0 to 2^53 - 1 in decimal, `digitCount(value)` bytes. */
  integer(value: number): void {
    const end = this.position + digitCount(value)
    let rest = value
    for (let i = end - 1; i >= this.position; i--) {
      const tenth = Math.floor(rest / 10)
      // The parentheses matter: 0x30 plus a number near 2^53 would be rounded.
      this.bytes[i] = 0x30 + (rest - tenth * 10)
      rest = tenth
    }
    this.position = end
  }
}
