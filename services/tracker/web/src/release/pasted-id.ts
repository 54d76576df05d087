type Catalogue = 'imdb' | 'tmdb' | 'tvdb'

/** The position of the id in a URL. Most pages of TheTVDB have a name instead, which may look like a number. */
const ADDRESSES: Readonly<Record<Catalogue, readonly RegExp[]>> = {
  imdb: [/\/(tt\d+)\b/],
  tmdb: [/themoviedb\.org\/(?:movie|tv)\/(\d+)/],
  tvdb: [
    /thetvdb\.com\/dereferrer\/series\/(\d+)/,
    /thetvdb\.com\/.*[?&]seriesid=(\d+)/,
    /thetvdb\.com\/.*[?&]tab=series&id=(\d+)/,
  ],
}

/** The id in a pasted text, which is the URL of a page or the id itself. */
export function pastedId(catalogue: Catalogue, text: string): string {
  for (const address of ADDRESSES[catalogue]) {
    const [, id] = address.exec(text) ?? []
    if (id !== undefined) return id
  }
  return text.trim()
}

/** The id that a pasted text consists of, if it is an IMDb id or the URL of a page; of TMDB with its kind. */
export function idIn(text: string): Partial<Record<Catalogue, string>> | undefined {
  const trimmed = text.trim()
  if (/^tt\d{7,9}$/.test(trimmed)) return { imdb: trimmed }
  if (!/^(https?:\/\/)?[\w.]*(imdb\.com|themoviedb\.org|thetvdb\.com)\/\S+$/.test(trimmed)) return undefined
  const [, tmdb] = /themoviedb\.org\/((?:movie|tv)\/\d+)/.exec(trimmed) ?? []
  if (tmdb !== undefined) return { tmdb }
  for (const catalogue of CATALOGUES) {
    const id = pastedId(catalogue, trimmed)
    if (id !== trimmed) return { [catalogue]: id }
  }
  return undefined
}

const CATALOGUES = ['imdb', 'tvdb'] as const
