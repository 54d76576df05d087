import { expect, test } from '@jest/globals'
import { generateKeyPair } from '@vault-and-tracker/http-signatures'
import { createVaultClient, VAULT_ERROR_CODES } from '@vault-and-tracker/vault-client'
import { ERRORS } from '../src/errors.ts'

test("the client's codes are those of the vault's error table, each with a remedy", () => {
  expect(VAULT_ERROR_CODES.toSorted()).toEqual(Object.keys(ERRORS).toSorted())
})

test.each(Object.entries(ERRORS))(
  'the client does not say the same twice of %s',
  async (error, { status, meaning }) => {
    // Without a network, because only the text of the error is tested.
    const client = createVaultClient({
      ...{ url: 'http://vault.example.org', project: 'shop', privateKey: generateKeyPair().privateJwk, retries: 0 },
      fetch: () => Promise.resolve(Response.json({ error, message: meaning }, { status })),
    })
    await expect(client.getAll()).rejects.toMatchObject({ code: error, message: expect.not.stringContaining(meaning) })
  },
)
