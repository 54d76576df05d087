import { expect, test } from '@jest/globals'
import { newId } from '@vault-and-tracker/service-kit/core/ids'
import { createRemovals, type Removals } from './removals.ts'

/** Removals that count their rounds. `atRelease` is called while the lease of a user is released. */
function countedRemovals(atRelease: (removals: Removals, released: number) => void) {
  const seen = { rounds: 0, released: 0 }
  const removals: Removals = createRemovals({
    gathered: { torrentsOf: () => Promise.resolve([]) },
    store: { swarmsOf: () => Promise.resolve([]) },
    swarms: {
      expel: () => {
        seen.rounds += 1
        return Promise.resolve()
      },
    },
    leaseFor: () => ({
      acquire: () => Promise.resolve(true),
      release: () => {
        seen.released += 1
        atRelease(removals, seen.released)
        return Promise.resolve()
      },
    }),
    onError: (error) => {
      throw error
    },
  })
  return { removals, seen }
}

test('removes a user in two rounds', async () => {
  const { removals, seen } = countedRemovals(() => undefined)
  removals.remove(newId())
  for (let i = 0; i < 5; i++) await removals.run()
  expect(seen).toEqual({ rounds: 2, released: 1 })
})

test('a removal requested while the last round ends takes two more rounds', async () => {
  const userId = newId()
  const { removals, seen } = countedRemovals((all, released) => {
    if (released === 1) all.remove(userId)
  })
  removals.remove(userId)
  for (let i = 0; i < 8; i++) await removals.run()
  expect(seen).toEqual({ rounds: 4, released: 2 })
})
