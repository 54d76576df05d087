import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { writePrivate } from './private-file.ts'

/** The file with the vault's root key, made up on the first start. Without it every secret in the data is lost. */
export function keyringFile(dataDir: string, now = new Date()): string {
  const file = join(dataDir, 'vault-keyring.json')
  if (!existsSync(file)) {
    const active = now.toISOString().slice(0, 7)
    const keys = { [active]: randomBytes(32).toString('base64') }
    writePrivate(file, `${JSON.stringify({ active, keys }, undefined, 2)}\n`)
  }
  return file
}
