import { createVaultClient } from '@vault-and-tracker/vault-client'
import { bytesOf, send } from './http.ts'
import type { WorldState } from './state.ts'

const TIMEOUT_MS = 30_000

const SECRETS: Record<string, Record<string, string>> = {
  production: {
    DATABASE_URL: 'postgres://shop:correct-horse@db.example.org:5432/shop',
    STRIPE_API_KEY: 'sk_live_not_a_real_key',
    SMTP_PASSWORD: 'battery-staple',
  },
  staging: {
    DATABASE_URL: 'postgres://shop:staging@db.staging.example.org:5432/shop',
    STRIPE_API_KEY: 'sk_test_not_a_real_key',
  },
}

type VaultSeed = {
  url: string
  vault: WorldState['vault']
  adminToken: string
  /** Whether an earlier start stored the secrets. */
  wasSeeded: boolean
  say: (text: string) => void
}

/** Registers the demo project and stores its secrets if they are missing. It keeps the user's changes. */
export async function seedVault({ url, vault, adminToken, wasSeeded, say }: VaultSeed): Promise<void> {
  const headers = { authorization: `Bearer ${adminToken}` }
  const body = { name: vault.project, publicKey: vault.publicKey }
  const registered = await send('POST', `${url}/v1/admin/projects`, { headers, body })
  const wasKnown = registered.status === 409
  if (!wasKnown) await bytesOf(registered)
  const client = createVaultClient({ url, ...vault, timeoutMs: TIMEOUT_MS })
  try {
    for (const [env, secrets] of Object.entries(SECRETS)) {
      const known = await client.getAll(env)
      for (const [key, value] of Object.entries(secrets)) {
        if (!Object.hasOwn(known, key)) await client.put(key, value, env)
      }
    }
  } catch (cause) {
    if (wasKnown && wasSeeded) {
      say(`The project ${vault.project} of the vault has another key or scope. Use that key instead of the one below.`)
      return
    }
    const hint = wasKnown ? '; its key may belong to another data directory on the same database' : ''
    throw new Error(`the demo project cannot use its secrets${hint}`, { cause })
  }
}
