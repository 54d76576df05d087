import { readFileSync } from 'node:fs'
import { expect, test } from '@jest/globals'
import { routesOf } from '@vault-and-tracker/rest/testing'
import { createLogger } from '@vault-and-tracker/service-kit/log/logger'
import { createApp, describeApi } from '../src/app.ts'
import { startTracker } from './support/tracker.ts'

const readText = (file: string): string => readFileSync(new URL(`../${file}`, import.meta.url), 'utf8')

test('openapi.json matches the schemas; `pnpm --filter tracker openapi` regenerates it', () => {
  const committed: unknown = JSON.parse(readText('openapi.json'))
  expect(committed).toEqual(JSON.parse(JSON.stringify(describeApi())))
})

test('describes exactly the served routes', async () => {
  const tracker = await startTracker()
  const app = createApp(tracker.context, {
    logger: createLogger({ name: 'test', level: 'silent' }),
    stopping: new AbortController().signal,
  })
  // Torznab is described by its own caps, and UNIT3D by its own source.
  const elsewhere = /^\/(docs|openapi\.json$|api\/torznab|unit3d)/
  const served = routesOf(app).filter((path) => !elsewhere.test(path))
  expect(served).toEqual(Object.keys(describeApi().paths).toSorted())
  await tracker.stop()
})
