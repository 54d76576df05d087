import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { writePrivate } from './private-file.ts'

/**
 * The variables that give the vault its keyring: those of the user where set, otherwise a file that is written on the
 * first start. Without that file no secret in the data can be read again.
 */
export function keyringVariables(dataDir: string, set: Record<string, string>): Record<string, string> {
  if (set['VAULT_KEYRING'] !== undefined || set['VAULT_KEYRING_FILE'] !== undefined) return {}
  const file = join(dataDir, 'vault-keyring.json')
  if (!existsSync(file)) {
    const active = new Date().toISOString().slice(0, 7)
    const keys = { [active]: randomBytes(32).toString('base64') }
    writePrivate(file, `${JSON.stringify({ active, keys }, undefined, 2)}\n`)
  }
  return { VAULT_KEYRING_FILE: file }
}
