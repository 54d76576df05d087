import { expect, test } from '@jest/globals'
import { consequencesOf } from './consequences.ts'

const NOW = { enabled: true, logging: true, windowSeconds: 60, searchLimit: 30, downloadLimit: 20 }

test('unchanged settings have no consequences', () => {
  expect(consequencesOf(NOW, NOW)).toEqual([])
})

test('switching the API off names the error code', () => {
  expect(consequencesOf(NOW, { ...NOW, enabled: false })).toEqual([expect.stringContaining('910')])
})

test('limits are converted to requests per minute', () => {
  const sentence = consequencesOf(NOW, { ...NOW, windowSeconds: 120, searchLimit: 45, downloadLimit: 60 })[0]
  expect(sentence).toMatch(/22\.5 searches and 30 downloads/)
})

test('only stricter limits mention the block', () => {
  const mentionsBlock = (changes: Partial<typeof NOW>): boolean =>
    consequencesOf(NOW, { ...NOW, ...changes }).length === 2
  expect(
    [{ searchLimit: 29 }, { windowSeconds: 61 }, { downloadLimit: 1, searchLimit: 100 }].map(mentionsBlock),
  ).toEqual([true, true, true])
  expect([{ searchLimit: 31 }, { windowSeconds: 30 }].map(mentionsBlock)).toEqual([false, false])
})
