import type { ReactNode } from 'react'

export type Fact = readonly [term: string, description: ReactNode]

/** Short facts in a row. */
export function Facts({ facts }: { facts: readonly Fact[] }) {
  return <List className="facts" facts={facts} />
}

/** Longer facts in a column. */
export function Details({ facts }: { facts: readonly Fact[] }) {
  return <List className="details" facts={facts} />
}

function List({ className, facts }: { className: string; facts: readonly Fact[] }) {
  return (
    <dl className={className}>
      {facts.map(([term, description]) => (
        <div key={term}>
          <dt>{term}</dt>
          <dd>{description}</dd>
        </div>
      ))}
    </dl>
  )
}
