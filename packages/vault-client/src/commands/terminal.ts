/** A stream that is written to; `done` is called when the text was taken, or with why it was not. */
type Output = {
  write(text: string | Uint8Array, done?: (error?: Error | null) => void): unknown
  readonly isTTY?: boolean
}

/** What a command uses of the process it runs in. Tests inject their own. */
export type Terminal = {
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly stdin: AsyncIterable<Uint8Array | string> & { readonly isTTY?: boolean }
  readonly stdout: Output
  readonly stderr: Output
  /** Asks a person on the terminal; a hidden answer is not shown while it is typed. */
  ask(question: string, options?: { hidden?: boolean }): Promise<string>
}

/** Wrong usage. The exit status is 2, and the message says where help is. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** What a command cannot do. The exit status is 1 unless told. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
  readonly status: number

  constructor(message: string, status = 1) {
    super(message)
    this.status = status
  }
}

/** More than the secrets of an environment are, in bytes; what is longer is not read to its end. */
const MAX_INPUT = 16 * 1024 * 1024

/** All that a source has, as text. Bytes that are not UTF-8 are refused, not stored as something else. */
export async function readText(chunks: AsyncIterable<Uint8Array | string>, source: string): Promise<string> {
  const read: Buffer[] = []
  let length = 0
  for await (const chunk of chunks) {
    const bytes = Buffer.from(chunk)
    length += bytes.length
    if (length > MAX_INPUT) throw new CommandError(`${source} is longer than 16 MiB, which no secrets are`)
    read.push(bytes)
  }
  return decodeUtf8(Buffer.concat(read), source)
}

/** Tells a person what the result does not say, on standard error. */
export function tell({ stderr }: Terminal, text: string): void {
  stderr.write(`vault: ${printable(text)}\n`)
}

export function readStdin({ stdin }: Terminal): Promise<string> {
  return readText(stdin, 'standard input')
}

function decodeUtf8(bytes: Uint8Array, source: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new CommandError(`${source} is not UTF-8; encode it, for example with base64`)
  }
}

/** Asks, unless nobody is there to answer. */
export async function confirm(terminal: Terminal, question: string, instead: string): Promise<boolean> {
  if (terminal.stdin.isTTY !== true) throw new UsageError(`there is no terminal to ask on; ${instead}`)
  return /^y(es)?$/i.test((await terminal.ask(`${question} [y/N] `)).trim())
}

type Colour = 'green' | 'red' | 'yellow' | 'dim'
const CODES: Readonly<Record<Colour, number>> = { green: 32, red: 31, yellow: 33, dim: 2 }

/** Colours for a stream that is a terminal; plain elsewhere, and where NO_COLOR is set (no-color.org). */
export function painter(stream: Terminal['stdout'], env: Terminal['env']): (colour: Colour, text: string) => string {
  const isColoured = stream.isTTY === true && !env['NO_COLOR'] && env['TERM'] !== 'dumb'
  return (colour, text) => (isColoured ? `\u001b[${String(CODES[colour])}m${text}\u001b[0m` : text)
}

/** Text that cannot move the cursor of the terminal it is written to. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (found) => JSON.stringify(found).slice(1, -1))
}

/** Rows under a head, columns aligned; one line a row. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = [head, ...rows].map((row) => row.map(printable))
  const widths = head.map((_, i) => Math.max(...cells.map((row) => row[i]?.length ?? 0)))
  return cells
    .map(
      (row) =>
        `${row
          .map((cell, i) => cell.padEnd(widths[i] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('')
}
