import { Button } from '@vault-and-tracker/web-kit/form'
import type { Column } from '@vault-and-tracker/web-kit/table'

/** A button of a row. */
export type RowAction<Row> = {
  /** What the button says. */
  readonly verb: string
  /** What it says to whoever hears the button alone. */
  readonly labelOf: (row: Row) => string
  /** Whether it ends what the row is about. */
  readonly isDangerous?: boolean
  /** undefined for a reader who may not: then there is no button. */
  readonly onAct: ((row: Row) => void) | undefined
}

/** The column with the buttons of each row. There is none for a reader who may do nothing. */
export function actionsColumn<Row>(actions: readonly RowAction<Row>[]): readonly Column<Row>[] {
  const buttons = actions.flatMap(({ verb, labelOf, isDangerous = false, onAct }) =>
    onAct === undefined
      ? []
      : [
          (row: Row) => (
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
      key: 'actions',
      head: 'Actions',
      align: 'end',
      isEvident: true,
      cell: (row) => <span className="row-actions">{buttons.map((button) => button(row))}</span>,
    },
  ]
}
