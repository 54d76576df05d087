import { expect, test } from '@jest/globals'
import { newId } from '@vault-and-tracker/service-kit/core/ids'
import { createExpulsions, type Expulsions } from './expulsions.ts'

/** Removals that count their rounds. `atRelease` is called while the lease of a user is released. */
function countedExpulsions(atRelease: (expulsions: Expulsions, released: number) => void) {
  const seen = { rounds: 0, released: 0 }
  const expulsions: Expulsions = createExpulsions({
    gathered: { torrentsOf: () => Promise.resolve([]) },
    store: { swarmsOf: () => Promise.resolve([]) },
    swarms: {
      expel: () => {
        seen.rounds += 1
        return Promise.resolve()
      },
    },
    turnFor: () => ({
      acquire: () => Promise.resolve(true),
      release: () => {
        seen.released += 1
        atRelease(expulsions, seen.released)
        return Promise.resolve()
      },
    }),
    onError: (error) => {
      throw error
    },
  })
  return { expulsions, seen }
}

test('removes a user in two rounds', async () => {
  const { expulsions, seen } = countedExpulsions(() => undefined)
  expulsions.expel(newId())
  for (let i = 0; i < 5; i++) await expulsions.run()
  expect(seen).toEqual({ rounds: 2, released: 1 })
})

test('a removal requested while the last round ends takes two more rounds', async () => {
  const userId = newId()
  const { expulsions, seen } = countedExpulsions((all, released) => {
    if (released === 1) all.expel(userId)
  })
  expulsions.expel(userId)
  for (let i = 0; i < 8; i++) await expulsions.run()
  expect(seen).toEqual({ rounds: 4, released: 2 })
})
