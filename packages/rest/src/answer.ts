/** An answer that is a file, with the headers that belong to it. */
export class FileAnswer {
  readonly bytes: Uint8Array
  readonly headers: Readonly<Record<string, string>>

  constructor(bytes: Uint8Array, headers: Readonly<Record<string, string>>) {
    this.bytes = bytes
    this.headers = headers
  }
}

/**
 * An answer that is JSON text already, so that it is not serialised twice. Bytes, which are for large answers, can be
 * sent to many clients at once without a copy for each, and are written in pieces.
 */
export class JsonText {
  readonly text: string | Buffer

  constructor(text: string | Buffer) {
    this.text = text
  }
}
