import { expect, test } from '@jest/globals'
import { nextPenalty } from './ladder.ts'

test('each block is twice as long as the one before, from 5 minutes to 24 hours', () => {
  const minutes = []
  for (let penalty = nextPenalty(0), i = 0; i < 11; penalty = nextPenalty(penalty), i++) minutes.push(penalty / 60_000)
  expect(minutes).toEqual([5, 10, 20, 40, 80, 160, 320, 640, 1_280, 1_440, 1_440])
})
