import type { CapsCategory } from '../categories/site-categories.ts'
import type { SearchFunction, Supported } from '../query/functions.ts'

/** The content of caps (Torznab 1.3, "Caps Format"). Applications cache it for up to seven days. */
export type Caps = {
  readonly server: {
    readonly title: string
    /** Absolute URL of the site. */
    readonly url: string
    readonly strapline?: string | undefined
    readonly email?: string | undefined
    /** Absolute URL of a picture. */
    readonly image?: string | undefined
  }
  /** The values of `limit`. Applications refuse caps without one of the two. */
  readonly limits: { readonly default: number; readonly max: number }
  readonly registration: { readonly available: boolean; readonly open: boolean }
  readonly supported: Supported
  readonly categories: readonly CapsCategory[]
  /** Tags of items for the parameter `tag` (Torznab 1.3, "Release Tags"). Prowlarr offers them as flags. */
  readonly tags: readonly { readonly name: string; readonly description: string }[]
}

/** The version of the Torznab specification that caps names. */
export const TORZNAB_VERSION = '1.3'

/** The elements of each function. Music has two: Lidarr reads `audio-search`, others `music-search`. */
export const SEARCH_ELEMENTS: readonly (readonly [element: string, function_: SearchFunction])[] = [
  ['search', 'search'],
  ['tv-search', 'tvsearch'],
  ['movie-search', 'movie'],
  ['music-search', 'music'],
  ['audio-search', 'music'],
  ['book-search', 'book'],
]

/** The attributes of an element of `searching`. FlexGet requires `supportedParams` even for unavailable functions. */
export function searchAttributes(supported: Supported, name: SearchFunction) {
  const parameters = supported[name]
  return {
    available: yesOrNo(parameters.length > 0),
    supportedParams: parameters.length > 0 ? parameters.join(',') : 'q',
  }
}

export function yesOrNo(value: boolean): 'yes' | 'no' {
  return value ? 'yes' : 'no'
}
