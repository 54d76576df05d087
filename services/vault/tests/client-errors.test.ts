import { expect, test } from '@jest/globals'
import { VAULT_ERROR_CODES } from '@vault-and-tracker/vault-client'
import { ERRORS } from '../src/errors.ts'

test("the client's codes are those of the vault's error table, each with a remedy", () => {
  expect(VAULT_ERROR_CODES.toSorted()).toEqual(Object.keys(ERRORS).toSorted())
})
