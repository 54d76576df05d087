import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { importPrivateKey } from '@vault-and-tracker/http-signatures/sign'
import type { VaultClientOptions } from '../client/client.ts'
import { readPrivateKey } from '../client/private-key.ts'
import { readSecrets, type Secrets } from '../client/secrets.ts'
import { folderOf, makeFolderOf, writePrivately } from './files.ts'
import { CommandError, type Terminal } from './terminal.ts'

/**
 * Signed to derive the key of the copy. It cannot be a signature base, which begins with a quote (RFC 9421 section
 * 2.5).
 */
const CONTEXT = 'vault-client offline copy, version 1'

export type Copy = { readonly secrets: Secrets; readonly readAt: number }

/**
 * An encrypted copy of an environment for when the vault is unavailable. The encryption key is derived with
 * HKDF-SHA-256 from an Ed25519 signature, which is deterministic (RFC 8032) and requires the private key. The cipher is
 * AES-256-GCM with a random nonce of 96 bits. URL, project, environment and the time of the read are authenticated.
 */
export function offlineCopy(settings: VaultClientOptions, env: string, environment: Terminal['env']) {
  const { url, project } = settings
  const context = Buffer.from(JSON.stringify([CONTEXT, new URL(url).origin, project, env]))
  const base = folderOf(environment, 'XDG_CACHE_HOME', '.cache')
  if (base === undefined) throw new CommandError('there is no folder for the offline copy; set HOME or XDG_CACHE_HOME')
  const name = Buffer.from(JSON.stringify([new URL(url).origin, project, env])).toString('base64url')
  // A file name has at most 255 bytes.
  const file = join(base, 'vault-client', `${name.length > 200 ? digestOf(name) : name}.bin`)
  const key = (): Buffer => {
    const read = readPrivateKey(settings.privateKey)
    if (read === undefined) throw new Error('not a private key')
    const signature = importPrivateKey(read).sign(context)
    return Buffer.from(hkdfSync('sha256', signature, new Uint8Array(), CONTEXT, 32))
  }

  return {
    write: async (secrets: Secrets): Promise<void> => {
      const nonce = randomBytes(12)
      const cipher = createCipheriv('aes-256-gcm', key(), nonce, { authTagLength: 16 }).setAAD(context)
      const plain = JSON.stringify({ readAt: Date.now(), secrets: Object.entries(secrets) })
      const encrypted = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()])
      await makeFolderOf(file)
      await writePrivately(file, Buffer.concat([nonce, cipher.getAuthTag(), encrypted]))
    },

    /** `missing` if this environment has no copy, `unreadable` if this key cannot decrypt it. */
    read: async (): Promise<Copy | 'missing' | 'unreadable'> => {
      let bytes: Buffer
      try {
        bytes = await readFile(file)
      } catch {
        return 'missing'
      }
      try {
        const decipher = createDecipheriv('aes-256-gcm', key(), bytes.subarray(0, 12), { authTagLength: 16 })
        decipher.setAAD(context).setAuthTag(bytes.subarray(12, 28))
        const plain = Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()])
        const { readAt, secrets } = JSON.parse(plain.toString()) as { readAt: number; secrets: [string, string][] }
        return { readAt, secrets: readSecrets(Object.fromEntries(secrets)) }
      } catch {
        return 'unreadable'
      }
    },
  }
}

function digestOf(name: string): string {
  return Buffer.from(hkdfSync('sha256', name, new Uint8Array(), 'file name', 32)).toString('base64url')
}
