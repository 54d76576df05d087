import { expect, test } from '@jest/globals'
import { isPostgresUnavailable, isRedisUnavailable } from './unavailable.ts'

test('a transaction that lost its connection counts as unavailable, even if its error lists itself', () => {
  const error = Object.assign(new Error('Connection is closed.'), { previousErrors: [] as Error[] })
  error.previousErrors.push(error, error)
  expect(isRedisUnavailable(error)).toBe(true)
})

test('a discarded transaction counts as the error of its refused command', () => {
  const discarded = (message: string) =>
    Object.assign(new Error('EXECABORT Transaction discarded because of previous errors.'), {
      previousErrors: [new Error(message)],
    })
  expect(isRedisUnavailable(discarded('OOM command not allowed when used memory > maxmemory.'))).toBe(true)
  expect(isRedisUnavailable(discarded("ERR unknown command 'x'"))).toBe(false)
})

test('a missing Postgres socket counts as unavailable, a missing file as a bug', () => {
  const missing = (syscall: string) => Object.assign(new Error(`${syscall} ENOENT`), { code: 'ENOENT', syscall })
  expect(isPostgresUnavailable(missing('connect'))).toBe(true)
  expect(isPostgresUnavailable(missing('open'))).toBe(false)
})
