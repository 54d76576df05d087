import { generateKeyPair } from '@vault-and-tracker/http-signatures'
import { runVaultCommand } from '../../src/commands/program.ts'
import { newFolder } from '../new-folder.ts'

export const keyPair = generateKeyPair()

export type Answer = { status: number; out: string; err: string; asked: readonly string[] }

/**
 * Runs a command line in this process.
 *
 * @param typed the answers to prompts; if undefined, there is no terminal
 * @param write receives standard output instead of the result
 */
export async function vault(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  stdin = '',
  typed?: readonly string[],
  write?: (text: string | Uint8Array, done?: () => void) => void,
): Promise<Answer> {
  let [out, err] = ['', '']
  const asked: string[] = []
  const left = [...(typed ?? [])]
  const input = (async function* () {
    yield await Promise.resolve(stdin)
  })()
  const status = await runVaultCommand(
    {
      args,
      env: { PATH: process.env['PATH'], HOME: newFolder(), ...env },
      stdin: Object.assign(input, { isTTY: typed !== undefined }),
      stdout: {
        write:
          write ??
          ((text, done) => {
            out += String(text)
            done?.()
          }),
      },
      stderr: {
        write: (text, done) => {
          err += String(text)
          done?.()
        },
      },
      ask: (question, options) => {
        asked.push(options?.hidden === true ? `${question}(hidden)` : question)
        return Promise.resolve(left.shift() ?? '')
      },
    },
    '1.2.3',
  )
  return { status, out, err, asked }
}

/** Variables for a project of the fake vault. */
export function projectOf(url: string): Record<string, string> {
  return { VAULT_URL: url, VAULT_PROJECT: 'shop', VAULT_PRIVATE_KEY: keyPair.privateJwk }
}
