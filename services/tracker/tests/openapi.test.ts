import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { restEndpoints } from '../src/app.ts'
import { ERRORS } from '../src/errors.ts'
import { openApiDocument, restApi } from '../src/openapi.ts'
import { startTracker, type TestTracker } from './support/tracker.ts'

let tracker: TestTracker

beforeAll(async () => {
  tracker = await startTracker()
})

afterAll(() => tracker.stop())

const readText = (file: string): string => readFileSync(new URL(`../${file}`, import.meta.url), 'utf8')

test('openapi.json is what the schemas say; `node dist/openapi.js > openapi.json` writes it anew', () => {
  const committed: unknown = JSON.parse(readText('openapi.json'))
  expect(committed).toEqual(JSON.parse(JSON.stringify(openApiDocument())))
})

test('every documented endpoint is served, and every served one documented', () => {
  const name = (endpoint: { method: string; path: string }) => `${endpoint.method} ${endpoint.path}`
  const served = restEndpoints(tracker.context).map(({ endpoint }) => name(endpoint))
  expect(served.toSorted()).toEqual(restApi.map(name).toSorted())
})

test('every reference in the document leads somewhere', () => {
  const document = JSON.stringify(openApiDocument())
  const { components } = JSON.parse(document) as { components: Record<string, Record<string, unknown>> }
  for (const [, section = '', name = ''] of document.matchAll(/"#\/components\/(\w+)\/(\w+)"/g))
    expect(components[section]).toHaveProperty(name)
})

test('the README lists every error code with its status, and no other', () => {
  const rows = [...readText('README.md').matchAll(/^\| `([A-Z_]+)` +\| (\d{3}) +\|/gm)]
  expect(rows.map(([, code, status]) => [code, Number(status)])).toEqual(
    Object.entries(ERRORS).map(([code, { status }]) => [code, status]),
  )
})

test('the README lists every endpoint with who may call it, and no other', () => {
  const rows = [...readText('README.md').matchAll(/^\| (GET|POST|PATCH|DELETE) +\| `([^`]+)` +\| (\w+) +\|/gm)]
  expect(rows.map(([, method, path, access]) => `${method} ${path} ${access}`).toSorted()).toEqual(
    restApi.map(({ method, path, access }) => `${method} ${path} ${access}`).toSorted(),
  )
})
