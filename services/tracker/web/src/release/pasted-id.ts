/** Catalogues whose ids a torrent can have. */
type Catalogue = 'imdb' | 'tmdb' | 'tvdb'

/** Where their addresses hold the id. Most pages of TheTVDB are named by a word instead, which may look like a number. */
const ADDRESSES: Readonly<Record<Catalogue, readonly RegExp[]>> = {
  imdb: [/\/(tt\d+)\b/],
  tmdb: [/themoviedb\.org\/(?:movie|tv)\/(\d+)/],
  tvdb: [
    /thetvdb\.com\/dereferrer\/series\/(\d+)/,
    /thetvdb\.com\/.*[?&]seriesid=(\d+)/,
    /thetvdb\.com\/.*[?&]tab=series&id=(\d+)/,
  ],
}

/** The id in a text that was pasted: the address of a page of the catalogue, or the id itself. */
export function pastedId(catalogue: Catalogue, text: string): string {
  for (const address of ADDRESSES[catalogue]) {
    const [, id] = address.exec(text) ?? []
    if (id !== undefined) return id
  }
  return text.trim()
}
