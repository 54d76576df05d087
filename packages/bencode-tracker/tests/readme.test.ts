import { readFileSync } from 'node:fs'
import { runInNewContext } from 'node:vm'
import { describe, expect, test } from '@jest/globals'
import { BENCODE_ERRORS } from '../src/bencode/error.ts'
import * as wire from '../src/index.ts'
import { TORRENT_ERRORS } from '../src/torrent/error.ts'

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')

/** The rows of the table under a heading, each as its cells. */
function tableUnder(heading: string): string[][] {
  const section = readme.split(/^## /m).find((text) => text.startsWith(`${heading}\n`)) ?? ''
  const lines = section.split('\n').filter((line) => line.startsWith('|'))
  return lines.slice(2).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
}

describe('the README', () => {
  test('opens with an example that prints what it says', () => {
    const [, code = ''] = /```js\n(.*?)```/s.exec(readme) ?? []
    const printed: string[] = []
    const log = (...values: unknown[]): void => {
      printed.push(values.join(' '))
    }
    runInNewContext(code.replace("import * as wire from '@vault-and-tracker/bencode-tracker'", ''), {
      wire,
      console: { log },
    })
    const promised = [...code.matchAll(/\/\/ (.*)/g)].map(([, text]) => text)
    expect(promised.length).toBe(5)
    expect(printed).toEqual(promised)
  })

  test('lists every failure', () => {
    expect(tableUnder('Failures')).toEqual(
      Object.entries(wire.FAILURES).map(([name, { reason, retryIn }]) => [`\`${name}\``, reason, String(retryIn)]),
    )
  })

  test('lists every warning', () => {
    const interval = (seconds: number | undefined): string => (seconds === undefined ? 'the usual' : `${seconds} s`)
    expect(tableUnder('Warnings')).toEqual(
      Object.entries(wire.WARNINGS).map(([name, warning]) => [
        `\`${name}\``,
        warning.message,
        interval(warning.interval),
      ]),
    )
  })

  test('lists every error of the decoder and of torrent files', () => {
    const rows = (errors: Record<string, string>): string[][] =>
      Object.entries(errors).map(([code, meaning]) => [`\`${code}\``, meaning])
    expect(tableUnder('Bencode')).toEqual(rows(BENCODE_ERRORS))
    expect(tableUnder('.torrent files')).toEqual(rows(TORRENT_ERRORS))
  })
})
