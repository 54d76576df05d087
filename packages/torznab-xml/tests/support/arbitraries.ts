import fc from 'fast-check'
import type { Caps, Feed, FeedItem, ItemAttributes } from '../../src/index.ts'
import { CAPS } from './samples.ts'

/** Any UTF-16, lone surrogates included, with many characters that need special treatment in documents. */
export const anyText = fc
  .array(
    fc.oneof(
      { weight: 3, arbitrary: fc.string({ maxLength: 8 }) },
      fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)),
      fc.integer({ min: 0, max: 0xa0 }).map((unit) => String.fromCharCode(unit)),
      fc.constantFrom(...['<', '>', '&', '"', "'", ']]>', '<!--', '&amp;', '&#0;', '\r\n', '\t', ' ', '\u{1F3B8}']),
      fc.constantFrom(...['\uD83C', '\uDFB8', '\uFEFF', '\uFFFE', '\uFFFF', '\u0085', '\u2028', '\u202E', 'true']),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(''))

const count = fc.nat({ max: 2 ** 51 })
const date = fc.date({ min: new Date('0000-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })

const attributes: fc.Arbitrary<ItemAttributes> = fc.record(
  {
    imdb: fc.nat(),
    tvdb: fc.nat(),
    season: fc.nat(),
    airDate: date,
    tags: fc.array(anyText, { maxLength: 3 }),
    team: anyText,
    showTitle: anyText,
    poster: anyText,
  },
  { requiredKeys: [] },
)

const item: fc.Arbitrary<FeedItem> = fc.record({
  title: anyText,
  detailsUrl: anyText,
  downloadUrl: anyText,
  commentsUrl: anyText,
  publishedAt: date,
  size: count,
  files: count,
  grabs: count,
  description: anyText,
  categories: fc.array(fc.nat(), { minLength: 1, maxLength: 3 }),
  seeders: count,
  leechers: count,
  infoHash: anyText,
  rates: fc.record({
    download: fc.double({ min: 0, max: 1, noNaN: true }),
    upload: fc.double({ min: 0, max: 10, noNaN: true }),
  }),
  attributes,
})

export const anyFeed: fc.Arbitrary<Feed> = fc.record({
  title: anyText,
  description: anyText,
  siteUrl: anyText,
  selfUrl: anyText,
  offset: count,
  total: count,
  limits: fc.option(fc.record({ apiCurrent: count, apiMax: count, grabCurrent: count, grabMax: count }), {
    nil: undefined,
  }),
  items: fc.array(item, { maxLength: 4 }),
})

export const anyCaps: fc.Arbitrary<Caps> = fc
  .record({ title: anyText, url: anyText, name: anyText, description: anyText, id: fc.nat() })
  .map(({ title, url, name, description, id }) => ({
    ...CAPS,
    server: { title, url, strapline: description, email: name },
    categories: [{ id, name, subcategories: [{ id, name: title }] }],
    tags: [{ name, description }],
  }))
