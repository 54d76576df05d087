import { expect, test } from '@jest/globals'
import { RELEASE_VALUES } from '../../../src/releases/release-name-tags.ts'
import { readListSearch, VALUES } from './list-search.ts'

test('the page knows the values of the API, except resolutions that nothing is broadcast or sold in', () => {
  const unused = ['540i', '720i', '1440i', '2160i', '4320i']
  const sorted = (values: readonly string[]): readonly string[] => values.toSorted()
  for (const field of ['resolution', 'source', 'codec', 'hdr', 'audio'] as const)
    expect(sorted(VALUES[field])).toEqual(sorted(RELEASE_VALUES[field].filter((value) => !unused.includes(value))))
})

test('unknown values of an address are ignored', () => {
  const filters = { resolution: '9000p,720p', language: 'xx', year: '2024-2020', minSize: 'large', mine: 'liked' }
  const others = { page: '-3', sort: 'colour', order: 'up', category: 'A B', imdb: '7' }
  const read = Object.entries(readListSearch({ ...filters, ...others }))
  expect(read.filter(([, value]) => value !== undefined)).toEqual([['resolution', '720p']])
})
