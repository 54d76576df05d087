import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Button, Select } from '@vault-and-tracker/web-kit/form'
import { formatBytes } from '@vault-and-tracker/web-kit/format'
import { useEffect, useRef, useState } from 'react'
import { categories, flatten } from '../api/queries.ts'
import { ListChips } from './list-chips.tsx'
import { Choices } from './list-choices.tsx'
import { filtersIn, type ListSearch, languageOf, type Order, type Sort, VALUES, valuesOf } from './list-search.ts'
import { torrentFacets } from './queries.ts'

const ORDERS: readonly (readonly [value: `${Sort} ${Order}`, label: string])[] = [
  ['created desc', 'Newest first'],
  ['created asc', 'Oldest first'],
  ['seeders desc', 'Most seeders'],
  ['leechers desc', 'Most leechers'],
  ['completed desc', 'Most snatches'],
  ['size desc', 'Largest first'],
  ['size asc', 'Smallest first'],
]

const LANGUAGES =
  'en de fr es it pt nl pl ru uk cs sk hu ro bg el tr ar he hi ta te ja ko zh th vi sv no da fi mul'.split(' ')

const MIB = 2 ** 20
const SIZES = [100, 500, 1_024, 2_048, 5_120, 10_240, 20_480, 51_200, 102_400].map((mebibytes) => mebibytes * MIB)
const SMALLEST = SIZES.map((size) => [String(size), `At least ${formatBytes(size)}`] as const)
const LARGEST = SIZES.map((size) => [String(size), `At most ${formatBytes(size)}`] as const)
const AGES = [
  ['1', 'Last day'],
  ['7', 'Last 7 days'],
  ['30', 'Last 30 days'],
  ['365', 'Last 365 days'],
] as const
const SEEDERS = [
  ['true', 'With seeders'],
  ['false', 'Without seeders'],
] as const
const RATES = [
  ['true', 'Freeleech'],
  ['false', 'Not freeleech'],
] as const
const INTERNAL = [
  ['true', 'Internal'],
  ['false', 'Not internal'],
] as const
const SCENE = [
  ['true', 'Scene'],
  ['false', 'Not scene'],
] as const
const OWN = [
  ['unseen', 'Not seen yet'],
  ['snatched', 'Snatched by me'],
  ['seeding', 'Seeding now'],
  ['bookmarked', 'Bookmarked'],
] as const

/** Filters, and the order on narrow screens, which have no table head. */
export function ListFilters({ search }: { search: ListSearch }) {
  const navigate = useNavigate()
  const [isOpen, setOpen] = useState(false)
  const [isCounting, setCounting] = useState(false)
  const { data } = useQuery({ ...torrentFacets(filtersIn(search)), enabled: isCounting })
  const { data: tree = [] } = useQuery(categories)
  const go = (change: ListSearch): void => {
    void navigate({ to: '/torrents', search: { ...search, ...change, page: undefined } })
  }
  const several = (name: 'category' | 'language' | keyof typeof VALUES) => ({
    chosen: valuesOf(search[name]),
    counts: data?.facets?.[name],
    onOpen: () => setCounting(true),
    onChange: (chosen: readonly string[]) => go({ [name]: chosen.join(',') || undefined }),
  })
  return (
    <>
      <div className="filters">
        <Choices
          {...several('category')}
          label="Category"
          choices={flatten(tree).map(({ slug, path }) => [slug, path])}
        />
        <Choices {...several('resolution')} label="Resolution" choices={plain(VALUES.resolution)} />
        <select
          className="input only-narrow"
          aria-label="Order"
          value={`${search.sort ?? 'created'} ${search.order ?? 'desc'}`}
          onChange={({ target }) => {
            const [sort, order] = target.value.split(' ') as [Sort, Order]
            go({ sort: sort === 'created' ? undefined : sort, order: order === 'desc' ? undefined : order })
          }}
        >
          {ORDERS.map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
        <Button id="more-filters" aria-expanded={isOpen} aria-controls="filter-panel" onClick={() => setOpen(!isOpen)}>
          {isOpen ? 'Fewer filters' : 'More filters'}
        </Button>
      </div>
      <div id="filter-panel" className="filter-panel" hidden={!isOpen}>
        <Choices {...several('source')} label="Source" choices={plain(VALUES.source)} />
        <Choices {...several('codec')} label="Codec" choices={plain(VALUES.codec)} />
        <Choices {...several('hdr')} label="HDR" choices={plain(VALUES.hdr)} />
        <Choices {...several('audio')} label="Audio" choices={plain(VALUES.audio)} />
        <Choices
          {...several('language')}
          label="Language"
          choices={LANGUAGES.map((code) => [code, languageOf(code) ?? code])}
        />
        <Select
          label="Smallest size"
          all="Smallest size"
          value={textOf(search.minSize)}
          choices={SMALLEST}
          onChange={(value) => go({ minSize: numberOf(value) })}
        />
        <Select
          label="Largest size"
          all="Largest size"
          value={textOf(search.maxSize)}
          choices={LARGEST}
          onChange={(value) => go({ maxSize: numberOf(value) })}
        />
        <Select
          label="Age"
          all="Age"
          value={textOf(search.maxAge)}
          choices={AGES}
          onChange={(value) => go({ maxAge: numberOf(value) })}
        />
        <Select
          label="Seeders"
          all="Seeders"
          value={search.alive}
          choices={SEEDERS}
          onChange={(alive) => go({ alive })}
        />
        <Select
          label="Rates"
          all="Rates"
          value={search.freeleech}
          choices={RATES}
          onChange={(freeleech) => go({ freeleech })}
        />
        <Select
          label="Internal"
          all="Internal or not"
          value={search.internal}
          choices={INTERNAL}
          onChange={(internal) => go({ internal })}
        />
        <Select
          label="Scene"
          all="Scene or not"
          value={search.scene}
          choices={SCENE}
          onChange={(scene) => go({ scene })}
        />
        <Select
          label="My torrents"
          all="My torrents"
          value={search.mine}
          choices={OWN}
          onChange={(mine) => go({ mine })}
        />
        <TextFilter label="Year" value={search.year} isRange onChange={(year) => go({ year })} />
        <TextFilter label="Season" value={search.season} isRange onChange={(season) => go({ season })} />
        <TextFilter label="Episode" value={search.episode} isRange onChange={(episode) => go({ episode })} />
        <TextFilter label="Uploader" value={search.uploader} onChange={(uploader) => go({ uploader })} />
      </div>
      <ListChips search={search} onChange={go} />
    </>
  )
}

function plain(values: readonly string[]): readonly (readonly [string, string])[] {
  return values.map((value) => [value, value])
}

function textOf(number: number | undefined): string | undefined {
  return number === undefined ? undefined : String(number)
}

function numberOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Number(text)
}

/** Applied on Enter and when the focus leaves. */
function TextFilter(props: {
  label: string
  value: string | undefined
  isRange?: boolean
  onChange: (value: string | undefined) => void
}) {
  const { label, value = '', isRange = false, onChange } = props
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (input.current !== null && document.activeElement !== input.current) input.current.value = value
  }, [value])
  const apply = ({ value: typed, validity }: HTMLInputElement): void => {
    if (validity.valid && typed.trim() !== value) onChange(typed.trim() || undefined)
  }
  return (
    <input
      ref={input}
      className="input"
      aria-label={label}
      placeholder={label}
      autoComplete="off"
      defaultValue={value}
      {...(isRange
        ? { pattern: '\\d{1,4}(-\\d{1,4})?', title: 'A number, or a range such as 1-3' }
        : { maxLength: 64 })}
      onBlur={({ currentTarget }) => apply(currentTarget)}
      onKeyDown={({ key, currentTarget }) => {
        if (key === 'Enter') apply(currentTarget)
      }}
    />
  )
}
