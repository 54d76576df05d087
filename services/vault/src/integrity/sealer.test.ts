import { createSecretKey, randomBytes } from 'node:crypto'
import { expect, test } from '@jest/globals'
import { createSealer } from './sealer.ts'

test('does not report a sealed log while another replica is sealing', async () => {
  const outcomes: ('busy' | undefined)[] = ['busy', undefined, 'busy']
  let sealed = 0
  const sealer = createSealer({
    store: { sealNext: () => Promise.resolve(outcomes.shift()) },
    chainKeys: { current: () => Promise.resolve({ keyNo: 1, key: createSecretKey(randomBytes(32)) }) },
    clock: { now: () => 0 },
    onPass: () => sealed++,
    onRefused: () => undefined,
  })
  const counts: number[] = []
  for (let pass = 0; pass < 3; pass++) {
    await sealer.sealNow()
    counts.push(sealed)
  }
  expect(counts).toEqual([0, 1, 1])
})
