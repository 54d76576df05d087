import { useQuery } from '@tanstack/react-query'
import { Button } from '@vault-and-tracker/web-kit/form'
import { formatBytes } from '@vault-and-tracker/web-kit/format'
import { categories, flatten } from '../api/queries.ts'
import { filtersIn, type ListFilter, type ListSearch, languageOf, valuesOf } from './list-search.ts'

/** A value of a filter, and the filters without it. */
type Chip = { readonly text: string; readonly change: ListFilter }

const NAMES: Readonly<Record<string, string>> = {
  year: 'Year',
  season: 'Season',
  episode: 'Episode',
  uploader: 'Uploader',
  imdb: 'IMDb',
  tmdb: 'TMDB',
  tvdb: 'TVDB',
}

const PHRASES: Readonly<Record<string, string>> = {
  'freeleech true': 'Freeleech',
  'freeleech false': 'Not freeleech',
  'internal true': 'Internal',
  'internal false': 'Not internal',
  'scene true': 'Scene',
  'scene false': 'Not scene',
  'alive true': 'With seeders',
  'alive false': 'Without seeders',
  'mine snatched': 'Snatched by me',
  'mine seeding': 'Seeding now',
  'mine unseen': 'Not seen yet',
  'mine bookmarked': 'Bookmarked',
}

/** The filters except the text, each with a button that removes it. */
export function ListChips({ search, onChange }: { search: ListSearch; onChange: (change: ListFilter) => void }) {
  const { data: tree = [] } = useQuery(categories)
  const chips = chipsOf(filtersIn(search), new Map(flatten(tree).map(({ slug, path }) => [slug, path])))
  if (chips.length === 0) return null
  return (
    <ul className="chips" aria-label="Active filters">
      {chips.map(({ text, change }) => (
        <li key={text}>
          <Button
            className="chip"
            aria-label={`Remove filter ${text}`}
            onClick={({ currentTarget }) => {
              neighbourOf(currentTarget)?.focus()
              onChange(change)
            }}
          >
            {text} <span aria-hidden="true">×</span>
          </Button>
        </li>
      ))}
      {chips.length > 1 && (
        <li>
          <Button className="chip" onClick={() => onChange(noneOf(search))}>
            Clear filters
          </Button>
        </li>
      )}
    </ul>
  )
}

/** Removes all filters except the text. */
function noneOf(search: ListSearch): ListFilter {
  const names = Object.keys(filtersIn(search)).filter((name) => name !== 'search')
  return Object.fromEntries(names.map((name) => [name, undefined]))
}

/** Where the focus goes when a chip disappears. */
function neighbourOf(button: HTMLElement): HTMLElement | null {
  const item = button.closest('li')
  const next = item?.nextElementSibling ?? item?.previousElementSibling
  return next?.querySelector('button') ?? document.querySelector<HTMLElement>('#more-filters')
}

/** The filters in words. @param pathOf the full names of categories by slug */
export function chipsOf(filters: ListFilter, pathOf: ReadonlyMap<string, string>): readonly Chip[] {
  return Object.entries(filters).flatMap(([name, value]): readonly Chip[] => {
    if (value === undefined || name === 'search') return []
    const without = { [name]: undefined }
    const phrase = PHRASES[`${name} ${value}`]
    if (phrase !== undefined) return [{ text: phrase, change: without }]
    if (name === 'minSize') return [{ text: `At least ${formatBytes(Number(value))}`, change: without }]
    if (name === 'maxSize') return [{ text: `At most ${formatBytes(Number(value))}`, change: without }]
    if (name === 'maxAge') return [{ text: `Last ${value} ${value === 1 ? 'day' : 'days'}`, change: without }]
    const label = NAMES[name]
    if (label !== undefined) return [{ text: `${label} ${value}`, change: without }]
    const values = valuesOf(String(value))
    return values.map((each) => ({
      text: (name === 'category' ? pathOf.get(each) : name === 'language' ? languageOf(each) : each) ?? each,
      change: { [name]: values.filter((other) => other !== each).join(',') || undefined },
    }))
  })
}
