import { expect, test } from '@jest/globals'
import { ApiError } from '../api/error.ts'
import { retryUnlessRefused } from './queries.ts'

const answered = (status: number) => new ApiError({ status, code: 'x', message: 'x' })

test('does not repeat a refused read', () => {
  for (const status of [400, 401, 403, 404, 429]) expect(retryUnlessRefused(0, answered(status))).toBe(false)
})

test('repeats a failed read twice', () => {
  for (const error of [answered(503), answered(500), new Error('no answer')])
    expect([0, 1, 2].map((failures) => retryUnlessRefused(failures, error))).toEqual([true, true, false])
})
