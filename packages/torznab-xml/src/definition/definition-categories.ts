import type { CapsCategory } from '../categories/site-categories.ts'
import { familyOfId } from '../categories/standard-categories.ts'

/** A category of a site, with its root in the name, and the standard name that definitions map it to. */
export type MappedCategory = { readonly id: number; readonly standard: string; readonly name: string }

/** The names of the standard IDs, each family with its subcategories by the last three digits of their IDs. */
const FAMILIES: Readonly<Record<number, readonly [name: string, subcategories: Readonly<Record<number, string>>]>> = {
  1000: [
    'Console',
    {
      ...{ 10: 'NDS', 20: 'PSP', 30: 'Wii', 40: 'XBox', 50: 'XBox 360', 60: 'Wiiware', 70: 'XBox 360 DLC', 80: 'PS3' },
      ...{ 90: 'Other', 110: '3DS', 120: 'PS Vita', 130: 'WiiU', 140: 'XBox One', 180: 'PS4' },
    },
  ],
  2000: [
    'Movies',
    {
      ...{ 10: 'Foreign', 20: 'Other', 30: 'SD', 40: 'HD', 45: 'UHD', 50: 'BluRay', 60: '3D', 70: 'DVD', 80: 'WEB-DL' },
    },
  ],
  3000: ['Audio', { 10: 'MP3', 20: 'Video', 30: 'Audiobook', 40: 'Lossless', 50: 'Other', 60: 'Foreign' }],
  4000: [
    'PC',
    { 10: '0day', 20: 'ISO', 30: 'Mac', 40: 'Mobile-Other', 50: 'Games', 60: 'Mobile-iOS', 70: 'Mobile-Android' },
  ],
  5000: [
    'TV',
    {
      ...{ 10: 'WEB-DL', 20: 'Foreign', 30: 'SD', 40: 'HD', 45: 'UHD', 50: 'Other', 60: 'Sport', 70: 'Anime' },
      ...{ 80: 'Documentary' },
    },
  ],
  6000: [
    'XXX',
    {
      ...{ 10: 'DVD', 20: 'WMV', 30: 'XviD', 40: 'x264', 45: 'UHD', 50: 'Pack', 60: 'ImageSet', 70: 'Other', 80: 'SD' },
      ...{ 90: 'WEB-DL' },
    },
  ],
  7000: ['Books', { 10: 'Mags', 20: 'EBook', 30: 'Comics', 40: 'Technical', 50: 'Other', 60: 'Foreign' }],
  8000: ['Other', { 10: 'Misc', 20: 'Hashed' }],
}
const OTHER = 8000

/** All categories of caps. One without a standard ID gets the standard name of its root, otherwise `Other`. */
export function mappedCategories(categories: readonly CapsCategory[]): readonly MappedCategory[] {
  return categories.flatMap(({ id, name, subcategories }) => {
    const root = standardName(id) ?? standardName(OTHER) ?? ''
    const below = subcategories.map((sub) => ({
      id: sub.id,
      name: `${name} > ${sub.name}`,
      standard: standardName(sub.id) ?? root,
    }))
    return [{ id, name, standard: root }, ...below]
  })
}

/** The standard name of an ID, or of its family; undefined for a site-specific ID. */
function standardName(id: number): string | undefined {
  const family = familyOfId(id)
  const [name, subcategories] = (family === undefined ? undefined : FAMILIES[family]) ?? []
  const below = family === undefined ? undefined : subcategories?.[id - family]
  return below === undefined ? name : `${name}/${below}`
}
