import { Icon, type IconName } from '@vault-and-tracker/web-kit/icon'

/** The thousands of the Torznab ids, as the standard groups them. */
const FAMILIES: Readonly<Record<number, IconName>> = {
  1: 'game',
  2: 'film',
  3: 'music',
  4: 'software',
  5: 'tv',
  6: 'adult',
  7: 'book',
}
/** PC games are a part of software in Torznab. */
const PC_GAMES = 4050

/** The icon of a main category. @param family its Torznab id; undefined if the category is unknown */
export function CategoryIcon({ family = 0 }: { family: number | undefined }) {
  const name = family === PC_GAMES ? 'game' : (FAMILIES[Math.floor(family / 1000)] ?? 'box')
  return (
    <span className="category-icon">
      <Icon name={name} />
    </span>
  )
}
