import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'

type Key = string | number | undefined

/** Without this, the router marks every link whose parameters are a part of the address. */
const EXACT = { exact: true, includeSearch: true, explicitUndefined: true } as const

type Props = {
  /** The name of the group of links, for screen readers. */
  label: string
  /** The first may have no key: an address without the parameter. */
  tabs: readonly (readonly [key: Key, text: ReactNode])[]
  current: Key
}

/** The parts of a page: links that set one parameter of the address and drop the others. */
export function Tabs({ name = 'tab', ...props }: Props & { name?: string }) {
  return <Links {...props} className="tabs" searchOf={(key) => () => (key === undefined ? {} : { [name]: key })} />
}

/** The time ranges of a chart: links that set one parameter, or drop it for the initial range, and keep the others. */
export function Ranges(props: Props & { name?: string; initial: Key; without?: readonly string[] }) {
  const { name = 'range', initial, without = [], ...links } = props
  return (
    <Links
      {...links}
      className="range-links"
      linkClass="button"
      searchOf={(key) => (before) => ({
        ...Object.fromEntries(Object.entries(before).filter(([each]) => !without.includes(each))),
        [name]: key === initial ? undefined : key,
      })}
    />
  )
}

type Search = Readonly<Record<string, unknown>>

function Links(
  props: Props & { className: string; linkClass?: string; searchOf: (key: Key) => (before: Search) => Search },
) {
  const { label, tabs, current, className, linkClass, searchOf } = props
  return (
    <nav className={className} aria-label={label}>
      {tabs.map(([key, text]) => (
        <Link
          key={key ?? ''}
          to="."
          search={searchOf(key)}
          className={linkClass}
          activeOptions={EXACT}
          resetScroll={false}
          aria-current={key === current ? 'page' : undefined}
          data-current={key === current}
        >
          {text}
        </Link>
      ))}
    </nav>
  )
}
