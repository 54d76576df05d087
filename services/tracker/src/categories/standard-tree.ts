/** A category of the standard tree, with its subcategories. */
export type StandardCategory = readonly [
  slug: string,
  name: string,
  torznabId: number,
  subcategories?: readonly StandardCategory[],
]

/** The tree that "Seed Torznab categories" creates. */
export const STANDARD_TREE: readonly StandardCategory[] = [
  [
    'movies',
    'Movies',
    2000,
    [
      ['movies-hd', 'HD', 2040],
      ['movies-uhd', 'UHD/4K', 2045],
      ['movies-sd', 'SD', 2030],
      ['movies-bluray', 'Blu-ray disc', 2050],
    ],
  ],
  [
    'tv',
    'TV',
    5000,
    [
      ['tv-hd', 'HD', 5040],
      ['tv-uhd', 'UHD/4K', 5045],
      ['tv-sd', 'SD', 5030],
      ['tv-anime', 'Anime', 5070],
      ['tv-documentary', 'Documentary', 5080],
    ],
  ],
  [
    'audio',
    'Audio',
    3000,
    [
      ['audio-mp3', 'MP3', 3010],
      ['audio-lossless', 'Lossless', 3040],
    ],
  ],
  [
    'games',
    'Games',
    4050,
    [
      ['games-pc', 'PC', 4050],
      ['games-console', 'Console', 1000],
      ['games-playstation', 'PlayStation', 1180],
      ['games-xbox', 'Xbox', 1040],
    ],
  ],
  [
    'software',
    'Software',
    4000,
    [
      ['software-windows', 'Windows', 4020],
      ['software-macos', 'macOS', 4030],
    ],
  ],
  [
    'books',
    'Books',
    7000,
    [
      ['ebooks', 'Ebooks', 7020],
      ['comics', 'Comics', 7030],
      ['magazines', 'Magazines', 7010],
    ],
  ],
  ['xxx', 'XXX', 6000],
  ['other', 'Other', 8000],
]
