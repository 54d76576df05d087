import type { ReactNode } from 'react'

/** A number of a page: what it is, the number as it is shown, and what puts it into proportion. */
export type Figure = {
  readonly label: string
  readonly value: string
  readonly note?: string | undefined
  /** Stands in place of the label: a link to where the number comes from. */
  readonly link?: ReactNode
  /** Somebody has to do something. */
  readonly isUrgent?: boolean
}

/** The numbers that a page is about, four in a row; `columns` is for numbers that make another grid. */
export function Numbers({ figures, columns = 4 }: { figures: readonly Figure[]; columns?: 3 | 4 }) {
  return (
    <dl className="numbers" data-columns={columns}>
      {figures.map(({ label, value, note, link, isUrgent = false }) => (
        <div key={label} data-urgent={isUrgent}>
          <dt>{link ?? label}</dt>
          <dd>
            {value}
            {note !== undefined && <span className="note">{note}</span>}
          </dd>
        </div>
      ))}
    </dl>
  )
}
