import { expect, test } from '@jest/globals'
import { consequencesOf } from './consequences.ts'

const NOW = { enabled: true, logging: true, windowSeconds: 60, searchLimit: 30, downloadLimit: 20 }

test('what is not changed has no consequence', () => {
  expect(consequencesOf(NOW, {})).toEqual([])
})

test('switching the API off names the error that tools get', () => {
  expect(consequencesOf(NOW, { enabled: false })).toEqual([expect.stringContaining('error 910')])
})

test.each([
  [15, 'That is 15 searches a minute: less than one program'],
  [45, 'That is 45 searches a minute: as much as one program'],
  [120, 'That is 120 searches a minute: as much as 4 programs'],
])('%d searches in a minute are told in programs', (searchLimit, sentence) => {
  expect(consequencesOf(NOW, { searchLimit }).join(' ')).toContain(sentence)
})

test('a stricter limit tells of the block, a looser one does not', () => {
  const told = (changes: Partial<typeof NOW>): boolean => consequencesOf(NOW, changes).join(' ').includes('5 minutes')
  expect([{ searchLimit: 29 }, { windowSeconds: 61 }, { downloadLimit: 1, searchLimit: 100 }].map(told)).toEqual([
    true,
    true,
    true,
  ])
  expect([{ searchLimit: 31 }, { windowSeconds: 30 }].map(told)).toEqual([false, false])
})
