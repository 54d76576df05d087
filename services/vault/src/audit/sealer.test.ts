import { createSecretKey, randomBytes } from 'node:crypto'
import { expect, test } from '@jest/globals'
import { createSealer } from './sealer.ts'

test('a pass that another replica holds up does not tell that the log is sealed', async () => {
  const outcomes: ('busy' | undefined)[] = ['busy', undefined, 'busy']
  let sealed = 0
  const sealer = createSealer({
    store: { sealNext: () => Promise.resolve(outcomes.shift()) },
    chainKey: () => Promise.resolve({ keyNo: 1, key: createSecretKey(randomBytes(32)) }),
    clock: { now: () => 0 },
    onPass: () => sealed++,
    onForged: () => undefined,
  })
  const counts: number[] = []
  for (let pass = 0; pass < 3; pass++) {
    await sealer.sealNow()
    counts.push(sealed)
  }
  expect(counts).toEqual([0, 1, 1])
})
