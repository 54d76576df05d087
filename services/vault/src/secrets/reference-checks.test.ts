import { expect, test } from '@jest/globals'
import { apiError, isApiError } from '../errors.ts'
import { type CheckedStore, createReferenceChecks } from './reference-checks.ts'
import { TooCostly } from './resolution.ts'

const project = { uid: 'uid', name: 'shop' }

/** Checks a change of `own`, which `readers` read. Environments named in `fails` do not resolve after it. */
function check(readers: readonly string[], fails: Readonly<Record<string, Error>>) {
  const resolved: string[] = []
  const storeOf = (isAfter: boolean): CheckedStore => ({
    findProjects: () => Promise.resolve([]),
    rulesBetween: () => Promise.resolve([]),
    readersOf: () => Promise.resolve(readers),
    readWanted: (wanted) => {
      const [place] = wanted
      const error = fails[place?.env ?? '']
      const isOwn = place?.keys !== 'all'
      resolved.push(`${isOwn ? 'written in ' : ''}${place?.env ?? ''}`)
      return isAfter && !isOwn && error !== undefined ? Promise.reject(error) : Promise.resolve([{ levels: [] }])
    },
  })
  const run = createReferenceChecks({
    stored: storeOf(false),
    resolve: () => Promise.resolve({ values: new Map(), crossed: [], cost: 0 }),
    values: { decrypt: () => '' },
    rows: { assertInheritance: () => undefined },
    threadTurn: () => undefined,
  })({ project, env: 'own', secrets: [{ key: 'A' }] }, storeOf(true))
  return run.then(
    () => ({ resolved, message: undefined }),
    (error: unknown) => ({ resolved, message: isApiError(error) ? error.message : String(error) }),
  )
}

test('the first environment that would no longer resolve is named', async () => {
  const { message, resolved } = await check(['own', 'heir'], { heir: apiError('unresolved_reference', 'Why.') })
  expect(message).toMatch(/"heir".*Why\./)
  expect(resolved).toEqual(['own', 'heir', 'heir'])
})

test('beyond the limit of costs, only the written values are checked', async () => {
  const { message, resolved } = await check(['own', 'large', 'heir'], { large: new TooCostly() })
  expect(message).toBeUndefined()
  expect(resolved).toEqual(['own', 'large', 'written in own'])
})

test('an outage refuses the write', async () => {
  const { message } = await check(['own', 'heir'], { heir: apiError('unavailable', 'Away.') })
  expect(message).toBe('Away.')
})
