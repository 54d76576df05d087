import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { createRedactor } from '../../src/commands/redact.ts'
import { startFakeVault } from '../fake-vault.ts'
import { keyPair, projectOf, vault } from './run-vault.ts'

/** Redacts an output that arrives in chunks of `size` bytes. */
async function redacted(secrets: Record<string, string>, output: string, size = output.length): Promise<string> {
  const redactor = createRedactor(secrets)
  const passed: Buffer[] = []
  redactor.on('data', (chunk: Buffer) => passed.push(chunk))
  const bytes = Buffer.from(output)
  for (let at = 0; at < bytes.length; at += size) redactor.write(bytes.subarray(at, at + size))
  redactor.end()
  await new Promise((resolve) => redactor.once('close', resolve))
  return Buffer.concat(passed).toString()
}

test.each([1, 2, 3, 5, 100])('redacts overlapping values in chunks of %d bytes', async (size) => {
  expect(await redacted({ A: 'abcdef', B: 'defghi' }, '-abcdefghi-', size)).toBe('-[redacted:A][redacted:B]-')
  expect(await redacted({ A: 'abcd', B: 'abcdefgh' }, '-abcdefg-abcdefgh-', size)).toBe(
    '-[redacted:A]efg-[redacted:B]-',
  )
  expect(await redacted({ A: 'inner', B: 'the inner value' }, 'the inner value', size)).toBe('[redacted:B]')
})

test('redacts all characters of overlapping values, and no others', async () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 4, maxLength: 9 })
  await fc.assert(
    fc.asyncProperty(fc.array(text, { minLength: 1, maxLength: 4 }), text, text, fc.nat(7), async (values, a, b, i) => {
      const output = `${a}${values[i % values.length] ?? ''}${b}`
      const secrets = Object.fromEntries(values.map((value, each) => [`K${String(each)}`, value]))
      let expected = ''
      for (let at = 0; at < output.length; at++)
        if (!values.some((value) => covers(output, value, at))) expected += output[at] ?? ''
      const shown = await redacted(secrets, output, 1 + (i % 3))
      expect(shown.replace(/\[redacted:K\d\]/g, '')).toBe(expected)
    }),
    { numRuns: 300 },
  )
})

/** Whether the character at a position belongs to an occurrence of the value. */
function covers(output: string, value: string, at: number): boolean {
  for (let start = Math.max(0, at - value.length + 1); start <= at; start++)
    if (output.startsWith(value, start)) return true
  return false
}

test.each([
  ['without the spaces around it', ' canary one ', 'canary one'],
  ['as ASCII-only JSON', 'Käfer-kanarie', '"K\\u00e4fer-kanarie"'],
  ['as base64 for URLs', 'canary?>~~', Buffer.from('canary?>~~').toString('base64url')],
  ['as a URL query', 'canary one', new URLSearchParams({ q: 'canary one' }).toString()],
])('redacts a value %s', async (_how, value, output) => {
  expect(await redacted({ VALUE: value }, output)).toContain('[redacted:VALUE]')
})

test('redacts a value with a lone surrogate', async () => {
  expect(await redacted({ VALUE: 'half \ud800' }, 'half \ufffd')).toBe('[redacted:VALUE]')
})

test('--redact applies backpressure to the command', async () => {
  await using server = await startFakeVault(keyPair.publicKeyHex)
  server.secrets.set('A', 'canary')
  const script = `const block = Buffer.alloc(65536, 'x'); let n = 0
    const write = () => { while (n++ < 320) if (!process.stdout.write(block)) return process.stdout.once('drain', write) }
    write(); process.stdout.on('drain', () => {}); setInterval(() => process.stderr.write(n + ' '), 50).unref()`
  let [unread, most] = [0, 0]
  const slow = (text: string | Uint8Array, done?: () => void): void => {
    unread += text.length
    most = Math.max(most, unread)
    setTimeout(() => {
      unread -= text.length
      done?.()
    }, 1)
  }
  const run = await vault(['run', '--redact', '--', 'node', '-e', script], projectOf(server.url), '', undefined, slow)
  expect(run.status).toBe(0)
  expect(most).toBeLessThan(1 << 20)
})

test('a command whose output is closed receives EPIPE, and run exits with its status', async () => {
  await using server = await startFakeVault(keyPair.publicKeyHex)
  server.secrets.set('A', 'canary')
  const script = `process.stdout.on('error', (error) => process.exit(error.code === 'EPIPE' ? 9 : 8))
    setInterval(() => console.log('line'), 5)`
  const closed = (_text: string | Uint8Array, done?: (error: Error) => void): void => done?.(new Error('EPIPE'))
  const run = await vault(['run', '--redact', '--', 'node', '-e', script], projectOf(server.url), '', undefined, closed)
  expect(run.status).toBe(9)
})

/** A value whose spelling differs in each format below. */
const VALUE = 'p<w&"d\'s $1 ß?>~'
const bytes = Buffer.from(VALUE)
test.each([
  ...[0, 1, 2, 3, 4].map((offset): [string, string] => [
    `base64 after ${String(offset)} other bytes`,
    Buffer.concat([Buffer.from('name:'.slice(0, offset)), bytes, Buffer.from(':tail')]).toString('base64'),
  ]),
  ['base64 for URLs after one other byte', Buffer.concat([Buffer.from(':'), bytes]).toString('base64url')],
  ['hex', bytes.toString('hex')],
  ['hex in upper case', bytes.toString('hex').toUpperCase()],
  ['text of HTML', 'p&lt;w&amp;"d\'s $1 ß?&gt;~'],
  ['HTML of Python', 'p&lt;w&amp;&quot;d&#x27;s $1 ß?&gt;~'],
  ['HTML of Go', 'p&lt;w&amp;&#34;d&#39;s $1 ß?&gt;~'],
  ['XML', 'p&lt;w&amp;&quot;d&apos;s $1 ß?&gt;~'],
  ['a word of a shell', `'p<w&"d'\\''s $1 ß?>~'`],
  ['a word of Python shlex', `'p<w&"d'"'"'s $1 ß?>~'`],
  ['a quoted word of a shell', `"p<w&\\"d's \\$1 ß?>~"`],
  ['what bash prints for %q', String.raw`p\<w\&\"d\'s\ \$1\ ß\?\>~`],
])('redacts a value in %s', async (_how, spelling) => {
  const shown = await redacted({ VALUE }, `before ${spelling} after`, 3)
  expect(shown).toContain('[redacted:VALUE]')
  // Base64 characters that contain bits of neighbouring bytes may remain at both ends.
  expect(shown.replace(/^before |\[redacted:VALUE\]| after$/g, '').length).toBeLessThan(24)
})
