import { createSecretStore } from '../dist/secrets/secrets.store.js'

/** The statement of one fetch as the vault's own store sends it, and its values. */
export async function statementOf(caller) {
  const sent = []
  const pool = {
    query: (config) => {
      sent.push(config)
      return Promise.resolve({ rows: [] })
    },
  }
  const by = { ...caller, publicKey: Buffer.from(caller.publicKeyHex, 'hex') }
  const entry = { id: '01890a5d-ac96-774b-bcce-b302099a8057', action: 'fetch', ip: '127.0.0.1' }
  await createSecretStore(undefined, pool).readAll([{ caller: by, env: 'production', now: new Date(), entry }])
  const [{ values, ...config }] = sent
  return { config, values }
}
