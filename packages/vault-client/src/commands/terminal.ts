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
    if (length > MAX_INPUT) throw new CommandError(`${source} is longer than 16 MiB; a secret has at most 64 KiB`)
    read.push(bytes)
  }
  return decodeUtf8(Buffer.concat(read), source)
}

/** Writes a message for a person to standard error. */
export function tell({ stderr }: Terminal, text: string): void {
  stderr.write(`vault: ${printableLines(text)}\n`)
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

/**
 * Asks before something that cannot be undone, unless `--yes` was given. As with `gh`, a script has to give it.
 *
 * @throws CommandError when the answer is not yes, UsageError without a terminal
 */
export async function confirm(terminal: Terminal, question: string, { yes }: { yes?: boolean }): Promise<void> {
  if (yes === true) return
  if (terminal.stdin.isTTY !== true) throw new UsageError('--yes is required if there is no terminal to ask on')
  const answer = await terminal.ask(`${printableLines(question)} [y/N] `)
  if (!/^y(es)?$/i.test(answer.trim())) throw new CommandError('canceled; nothing was changed')
}

type Colour = 'green' | 'red' | 'yellow' | 'dim'
const CODES: Readonly<Record<Colour, number>> = { green: 32, red: 31, yellow: 33, dim: 2 }

/** Colours for a stream that is a terminal; plain elsewhere, and where NO_COLOR is set (no-color.org). */
export function painter(stream: Terminal['stdout'], env: Terminal['env']): (colour: Colour, text: string) => string {
  const isColoured = stream.isTTY === true && !env['NO_COLOR'] && env['TERM'] !== 'dumb'
  return (colour, text) => (isColoured ? `\u001b[${String(CODES[colour])}m${text}\u001b[0m` : text)
}

/** What a terminal obeys, reorders by or does not show: control, bidi and ignorable characters, and spaces other than U+0020. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs}/gu

/** Text of others on one line of a terminal: what it would obey or not show is escaped as in a string of JSON. */
export function printable(text: string): string {
  return text.replace(INVISIBLE, escaped)
}

/** The same for text whose line breaks and tabs are meant: a message of several lines, or JSON, which means the same escaped. */
export function printableLines(text: string): string {
  return text.replace(INVISIBLE, (found) => (found === '\n' || found === '\t' ? found : escaped(found)))
}

function escaped(character: string): string {
  const short = { '\n': String.raw`\n`, '\r': String.raw`\r`, '\t': String.raw`\t` }[character]
  // By UTF-16 unit, not by character.
  return short ?? character.replace(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

export function jsonLine(value: unknown): string {
  return `${printable(JSON.stringify(value))}\n`
}

/** Writes a result: byte for byte to a file or a pipe, and without what a terminal would obey to a terminal. */
export function writeResult({ stdout }: Terminal, text: string): void {
  stdout.write(stdout.isTTY === true ? printableLines(text) : text)
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
