import { execFileSync } from 'node:child_process'
import { expect } from '@jest/globals'
import fc from 'fast-check'
import { type Format, formatSecrets } from '../../src/formats/formats.ts'

export type Secrets = Record<string, string>

export const environment = { ...process.env, NODE_OPTIONS: '' }

/** Runs a program that prints a JSON object of keys and hex values. */
export function hexOf(command: string, args: readonly string[]): Secrets {
  const printed = execFileSync(command, args, { encoding: 'utf8', env: environment, maxBuffer: 1 << 26, stdio: 'pipe' })
  const entries = Object.entries(JSON.parse(printed) as Secrets)
  return Object.fromEntries(entries.map(([key, hex]) => [key, Buffer.from(hex, 'hex').toString()]))
}

/** A Node program that prints its variables with the prefix `K_` for `hexOf`. */
export const PRINT_VARIABLES = `
  const own = Object.entries(process.env).filter(([key]) => key.startsWith('K_'))
  console.log(JSON.stringify(Object.fromEntries(own.map(([k, v]) => [k, Buffer.from(v).toString('hex')]))))`

/** Values that readers of such files are known to change. */
export const AWKWARD = [
  ...['', ' ', '  both sides  ', '\ttab\t', 'line\nbreak', '\n', 'ends\n', '\nbegins', 'a\r\nb', 'ends\r'],
  ...["'", "it's", '"', 'say "hi"', `both ' and "`, '`id`', '$HOME', '${HOME}', '$$', '$(id)', '\\', 'a\\nb', 'a\\\\b'],
  ...[
    'ends with \\',
    "\\'",
    '#',
    'a #comment',
    '# whole',
    '=',
    'a=b=c',
    '!',
    '!!',
    '%',
    '&',
    ';',
    '|',
    '*',
    '~',
    'é',
    '日本',
  ],
  ...[
    '👍',
    '\u00a0',
    '\u2028',
    '\ufeff',
    '\u0085',
    'EOF',
    'EOF_',
    '<<EOF',
    '{"json": ["$HOME"]}',
    '-----BEGIN\nKEY-----\n',
  ],
  ...['export A=1', 'null', 'true', '1', '- a', '? b', '@', '\u0001', '\u007f', 'postgres://shop:a"b$c@host/x#y'],
  ...['x'.repeat(65_536), 'x'.repeat(65_000), '\0'],
]

const values = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...AWKWARD) },
  fc.string({
    unit: fc.constantFrom('a', ' ', "'", '"', '\\', '$', '{', '}', '`', '\n', '#', '=', 'n', 'r'),
    maxLength: 12,
  }),
  fc.string({ unit: 'binary', maxLength: 12 }),
)

/** The secrets that a format can represent, and the number of those that it refuses by name. */
function accepted(secrets: Secrets, format: Format): { held: Secrets; refused: number } {
  const held: Secrets = {}
  let refused = 0
  for (const [key, value] of Object.entries(secrets)) {
    try {
      formatSecrets({ [key]: value }, format)
      held[key] = value
    } catch (error) {
      expect(error).toMatchObject({ name: 'CommandError', message: expect.stringContaining(`"${key}"`) })
      refused += 1
    }
  }
  return { held, refused }
}

/** Asserts that a reader returns all values byte for byte, except those that the export refuses by name. */
export function provesReader(format: Format, read: (text: string) => Secrets, numRuns = 6): void {
  const every = Object.fromEntries(AWKWARD.map((value, i) => [`K_${String(i)}`, value]))
  const { held, refused } = accepted(every, format)
  expect(read(formatSecrets(held, format))).toEqual(held)
  // Otherwise, refusing all values would pass.
  expect(refused).toBeLessThanOrEqual(AWKWARD.length / 3)
  fc.assert(
    fc.property(fc.array(values, { minLength: 1, maxLength: 40 }), (list) => {
      const secrets = Object.fromEntries(list.map((value, i) => [`K_${String(i)}`, value]))
      const taken = accepted(secrets, format).held
      expect(read(formatSecrets(taken, format))).toEqual(taken)
    }),
    { numRuns },
  )
}
