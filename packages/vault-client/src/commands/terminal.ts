/** A writable stream. `done` is called when the text was written, or with an error. */
type Output = {
  write(text: string | Uint8Array, done?: (error?: Error | null) => void): unknown
  readonly isTTY?: boolean
}

/** The parts of the process that commands use. Tests inject their own. */
export type Terminal = {
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly stdin: AsyncIterable<Uint8Array | string> & { readonly isTTY?: boolean }
  readonly stdout: Output
  readonly stderr: Output
  /** Asks on the terminal. A hidden answer is not echoed. */
  ask(question: string, options?: { hidden?: boolean }): Promise<string>
}

/** Incorrect usage. The exit status is 2, and a hint at the help follows the message. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** A failed command. The default exit status is 1. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
  readonly status: number
  /** The `error` of the output with --json. */
  readonly code: string

  constructor(message: string, status = 1, code = 'failed') {
    super(message)
    this.status = status
    this.code = code
  }
}

/** Something that the command names does not exist. */
export class NotFoundError extends CommandError {
  constructor(message: string) {
    super(message, 1, 'not_found')
  }
}

/** Maximum input in bytes, which is more than an environment can store. */
const MAX_INPUT = 16 * 1024 * 1024

/** Reads all text of a source. Refuses bytes that are not UTF-8 instead of replacing them. */
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
 * Asks for confirmation unless `--yes` is set. Without a terminal, `--yes` is required, as with `gh`.
 *
 * @throws CommandError if the answer is not yes, UsageError without a terminal
 */
export async function confirm(terminal: Terminal, question: string, { yes }: { yes?: boolean }): Promise<void> {
  if (yes === true) return
  if (terminal.stdin.isTTY !== true) throw new UsageError('--yes is required if there is no terminal to ask on')
  const answer = await terminal.ask(`${printableLines(question)} [y/N] `)
  if (!/^y(es)?$/i.test(answer.trim())) throw new CommandError('cancelled; nothing was changed')
}

type Colour = 'green' | 'red' | 'yellow' | 'dim'
const CODES: Readonly<Record<Colour, number>> = { green: 32, red: 31, yellow: 33, dim: 2 }

/** Colours text for terminals, unless NO_COLOR is set (no-color.org). */
export function painter(stream: Terminal['stdout'], env: Terminal['env']): (colour: Colour, text: string) => string {
  const isColoured = stream.isTTY === true && !env['NO_COLOR'] && env['TERM'] !== 'dumb'
  return (colour, text) => (isColoured ? `\u001b[${String(CODES[colour])}m${text}\u001b[0m` : text)
}

/** Control, bidi and ignorable characters, and spaces other than U+0020: terminals obey, reorder or hide them. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs}/gu

/** Makes untrusted text safe for one line of a terminal. Invisible characters are escaped as in JSON. */
export function printable(text: string): string {
  return text.replace(INVISIBLE, escaped)
}

/** The same for text with several lines, or JSON: line breaks and tabs are kept. */
export function printableLines(text: string): string {
  return text.replace(INVISIBLE, (found) => (found === '\n' || found === '\t' ? found : escaped(found)))
}

function escaped(character: string): string {
  const short = { '\n': String.raw`\n`, '\r': String.raw`\r`, '\t': String.raw`\t` }[character]
  // JSON escapes UTF-16 units, not characters.
  return short ?? character.replace(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

export function jsonLine(value: unknown): string {
  return `${printable(JSON.stringify(value))}\n`
}

/** Writes a result: byte for byte to a file or pipe, with escaped control characters to a terminal. */
export function writeResult({ stdout }: Terminal, text: string): void {
  stdout.write(stdout.isTTY === true ? printableLines(text) : text)
}

/** Formats a table with aligned columns. */
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
