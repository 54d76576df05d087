import { Button } from '@vault-and-tracker/web-kit/form'
import type { Column } from '@vault-and-tracker/web-kit/table'

/**
 * The column with the button that ends what a row is about.
 *
 * @param nameOf what the row is called, for whoever hears the button alone
 * @param onEnd undefined for a reader who may not: then there is no column
 */
export function endingColumn<Row>(
  verb: string,
  nameOf: (row: Row) => string,
  onEnd: ((row: Row) => void) | undefined,
): readonly Column<Row>[] {
  if (onEnd === undefined) return []
  return [
    {
      key: 'actions',
      head: 'Actions',
      align: 'end',
      isEvident: true,
      cell: (row) => (
        <span className="row-actions">
          <Button className="small" kind="danger" aria-label={`${verb} ${nameOf(row)}`} onClick={() => onEnd(row)}>
            {verb}
          </Button>
        </span>
      ),
    },
  ]
}
