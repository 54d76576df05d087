/** A category of the standard: a family such as TV, which is a multiple of 1000, or a part of one. */
export type StandardCategory = { readonly id: number; readonly name: string }

/** Ids from here on are site-specific (Newznab Web API, "Category Ranges") and do not form families. */
const FIRST_CUSTOM_ID = 100_000

type Family = readonly [id: number, name: string, parts: Readonly<Record<number, string>>]

/**
 * The categories of Prowlarr and Jackett: those of the Newznab Web API, "Predefined Categories", and later additions.
 * nZEDb swaps 2050 and 2060, but all applications use this order.
 */
const FAMILIES: readonly Family[] = [
  [
    1000,
    'Console',
    {
      1010: 'NDS',
      1020: 'PSP',
      1030: 'Wii',
      1040: 'XBox',
      1050: 'XBox 360',
      1060: 'Wiiware',
      1070: 'XBox 360 DLC',
      1080: 'PS3',
      1090: 'Other',
      1110: '3DS',
      1120: 'PS Vita',
      1130: 'WiiU',
      1140: 'XBox One',
      1180: 'PS4',
    },
  ],
  [
    2000,
    'Movies',
    {
      2010: 'Foreign',
      2020: 'Other',
      2030: 'SD',
      2040: 'HD',
      2045: 'UHD',
      2050: 'BluRay',
      2060: '3D',
      2070: 'DVD',
      2080: 'WEB-DL',
      2090: 'x265',
    },
  ],
  [3000, 'Audio', { 3010: 'MP3', 3020: 'Video', 3030: 'Audiobook', 3040: 'Lossless', 3050: 'Other', 3060: 'Foreign' }],
  [
    4000,
    'PC',
    {
      4010: '0day',
      4020: 'ISO',
      4030: 'Mac',
      4040: 'Mobile-Other',
      4050: 'Games',
      4060: 'Mobile-iOS',
      4070: 'Mobile-Android',
    },
  ],
  [
    5000,
    'TV',
    {
      5010: 'WEB-DL',
      5020: 'Foreign',
      5030: 'SD',
      5040: 'HD',
      5045: 'UHD',
      5050: 'Other',
      5060: 'Sport',
      5070: 'Anime',
      5080: 'Documentary',
      5090: 'x265',
    },
  ],
  [
    6000,
    'XXX',
    {
      6010: 'DVD',
      6020: 'WMV',
      6030: 'XviD',
      6040: 'x264',
      6045: 'UHD',
      6050: 'Pack',
      6060: 'ImageSet',
      6070: 'Other',
      6080: 'SD',
      6090: 'WEB-DL',
    },
  ],
  [7000, 'Books', { 7010: 'Mags', 7020: 'EBook', 7030: 'Comics', 7040: 'Technical', 7050: 'Other', 7060: 'Foreign' }],
  [8000, 'Other', { 8010: 'Misc', 8020: 'Hashed' }],
]

/** All standard categories by number, each family before its parts. Parts have names such as `TV/HD`. */
export const STANDARD_CATEGORIES: readonly StandardCategory[] = FAMILIES.flatMap(([familyId, family, parts]) => [
  { id: familyId, name: family },
  ...Object.entries(parts).map(([id, part]) => ({ id: Number(id), name: `${family}/${part}` })),
])

/** The family of an id by its number: 5000 for 5040 and for 5000 itself; undefined for site-specific ids. */
export function familyOfId(id: number): number | undefined {
  return id < FIRST_CUSTOM_ID ? id - (id % 1000) : undefined
}

/** Common slugs of categories, and their ids. Several slugs may have the same id. */
const IDS_OF_SLUGS: Readonly<Record<string, number>> = {
  movies: 2000,
  'movies-hd': 2040,
  'movies-uhd': 2045,
  'movies-4k': 2045,
  tv: 5000,
  'tv-hd': 5040,
  'tv-uhd': 5045,
  'tv-4k': 5045,
  anime: 5070,
  'tv-anime': 5070,
  audio: 3000,
  music: 3000,
  games: 4050,
  'games-pc': 4050,
  ebooks: 7020,
  books: 7020,
}

/** The usual id of a category with this slug; undefined for other slugs. */
export function torznabIdOfSlug(slug: string): number | undefined {
  return Object.hasOwn(IDS_OF_SLUGS, slug) ? IDS_OF_SLUGS[slug] : undefined
}
