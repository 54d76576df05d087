import { expect, test } from '@jest/globals'
import { BLOCKS_MS } from './limits.ts'

test('each block is twice as long as the previous one, from 5 minutes to 24 hours', () => {
  const minutes = BLOCKS_MS.map((ms) => ms / 60_000)
  expect(minutes).toEqual([5, 10, 20, 40, 80, 160, 320, 640, 1_280, 1_440])
})
