// Signs texts with a key from the vault. When the key changes there, the service switches to the new one.
import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createVaultClient } from '@vault-and-tracker/vault-client'

const { VAULT_URL, VAULT_PROJECT, VAULT_PRIVATE_KEY_FILE, PORT } = process.env
const vault = createVaultClient({
  url: VAULT_URL,
  project: VAULT_PROJECT,
  privateKey: readFileSync(VAULT_PRIVATE_KEY_FILE, 'utf8'),
})

// The service does not start without its secrets.
let { SIGNING_KEY } = await vault.getAll('production')
if (!SIGNING_KEY) throw new Error('the vault has no SIGNING_KEY for production')

const watch = vault.watch('production', {
  onChange: (secrets) => {
    SIGNING_KEY = secrets.SIGNING_KEY ?? SIGNING_KEY
  },
  // The service continues with the last known key.
  onError: (error) => console.error(`the vault cannot be read: ${error.message}`),
})

const server = createServer((request, response) => {
  const text = new URL(request.url, 'http://localhost').searchParams.get('text') ?? ''
  response.end(`${createHmac('sha256', SIGNING_KEY).update(text).digest('hex')}\n`)
})
server.listen(Number(PORT ?? 8080), '127.0.0.1', () => console.log(`listening on port ${server.address().port}`))

process.once('SIGTERM', () => {
  watch.stop()
  server.close()
})
