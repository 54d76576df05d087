import { Fragment, type ReactNode, useEffect, useRef } from 'react'

/** What the link of a tab has to carry. */
export type TabAttributes = { readonly 'aria-current': 'page' | undefined; readonly 'data-current': boolean }

type Props<Key extends string | number | undefined> = {
  /** What the links are about, for screen readers. */
  label: string
  /** The first may have no key: an address without a parameter. */
  tabs: readonly (readonly [key: Key, text: ReactNode])[]
  current: Key
  /** Makes the link of a tab; the router is the application's. */
  link: (key: Key, attributes: TabAttributes, text: ReactNode) => ReactNode
}

/** The parts of a page. A tab is in the address, so tabs are links. */
export function Tabs<Key extends string | number | undefined>(props: Props<Key>) {
  return <Links className="tabs" {...props} />
}

/** The times that a chart can show. */
export function Ranges<Key extends string | number | undefined>(props: Props<Key>) {
  return <Links className="range-links" {...props} />
}

function Links<Key extends string | number | undefined>(props: Props<Key> & { className: string }) {
  const { label, tabs, current, link, className } = props
  const nav = useRef<HTMLElement>(null)
  useEffect(() => {
    const link = nav.current?.querySelector<HTMLElement>('[data-current="true"]')
    // On a narrow screen the tabs scroll; the page does not.
    if (nav.current && link) nav.current.scrollLeft = link.offsetLeft - (nav.current.clientWidth - link.offsetWidth) / 2
  }, [current])
  return (
    <nav ref={nav} className={className} aria-label={label}>
      {tabs.map(([key, text]) => {
        const isCurrent = key === current
        return (
          <Fragment key={key ?? ''}>
            {link(key, { 'aria-current': isCurrent ? 'page' : undefined, 'data-current': isCurrent }, text)}
          </Fragment>
        )
      })}
    </nav>
  )
}
