import { Button } from '@vault-and-tracker/web-kit/form'
import type { Column } from '@vault-and-tracker/web-kit/table'

/** A button in each row. */
export type RowAction<Row> = {
  readonly verb: string
  /** For screen readers, which read the button without its row. */
  readonly labelOf: (row: Row) => string
  readonly isDangerous?: boolean
  /** Whether a row has the button; all rows by default. */
  readonly isFor?: (row: Row) => boolean
  /** Undefined if the reader may not do it; then there is no button. */
  readonly onAct: ((row: Row) => void) | undefined
}

/** The column of row buttons; omitted if the administrator has no permission. */
export function actionsColumn<Row>(actions: readonly RowAction<Row>[]): readonly Column<Row>[] {
  const buttons = actions.flatMap(({ verb, labelOf, isDangerous = false, isFor = () => true, onAct }) =>
    onAct === undefined
      ? []
      : [
          (row: Row) =>
            isFor(row) && (
              <Button
                key={verb}
                className="small"
                {...(isDangerous && { kind: 'danger' })}
                aria-label={labelOf(row)}
                onClick={() => onAct(row)}
              >
                {verb}
              </Button>
            ),
        ],
  )
  if (buttons.length === 0) return []
  return [
    {
      head: 'Actions',
      align: 'end',
      isEvident: true,
      cell: (row) => <span className="row-actions">{buttons.map((button) => button(row))}</span>,
    },
  ]
}
