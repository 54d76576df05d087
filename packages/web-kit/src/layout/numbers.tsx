import type { ReactNode } from 'react'

export type Figure = {
  readonly label: string
  readonly value: string
  readonly note?: string | undefined
  /** Replaces the label: a link to the details. */
  readonly link?: ReactNode
  /** Needs attention. */
  readonly isUrgent?: boolean
}

/** The main numbers of a page. */
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
