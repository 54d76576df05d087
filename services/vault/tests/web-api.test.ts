import { readFileSync } from 'node:fs'
import { expect, test } from '@jest/globals'
import openapiTS, { astToString } from 'openapi-typescript'

const fileOf = (path: string): URL => new URL(`../${path}`, import.meta.url)

test('the types of the console are those of openapi.json; `pnpm --filter vault openapi:web` writes them anew', async () => {
  const written = readFileSync(fileOf('web/src/api/schema.ts'), 'utf8')
  const made = astToString(await openapiTS(fileOf('openapi.json')))
  // The command puts a comment of its own in front.
  expect(written.slice(written.indexOf('export interface'))).toBe(made)
})
