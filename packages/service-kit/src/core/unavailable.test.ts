import { expect, test } from '@jest/globals'
import { isPostgresUnavailable, isRedisUnavailable } from './unavailable.ts'

test('a transaction that ended with its connection is unavailable, although its error is among those before it', () => {
  const error = Object.assign(new Error('Connection is closed.'), { previousErrors: [] as Error[] })
  error.previousErrors.push(error, error)
  expect(isRedisUnavailable(error)).toBe(true)
})

test('a transaction of which a command was refused is what that refusal is', () => {
  const discarded = (message: string) =>
    Object.assign(new Error('EXECABORT Transaction discarded because of previous errors.'), {
      previousErrors: [new Error(message)],
    })
  expect(isRedisUnavailable(discarded('OOM command not allowed when used memory > maxmemory.'))).toBe(true)
  expect(isRedisUnavailable(discarded("ERR unknown command 'x'"))).toBe(false)
})

test('a socket of Postgres that is not there is unavailable, and a file that is not there is a fault', () => {
  const missing = (syscall: string) => Object.assign(new Error(`${syscall} ENOENT`), { code: 'ENOENT', syscall })
  expect(isPostgresUnavailable(missing('connect'))).toBe(true)
  expect(isPostgresUnavailable(missing('open'))).toBe(false)
})
