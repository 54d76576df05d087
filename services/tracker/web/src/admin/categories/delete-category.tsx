import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type ApiError, read } from '@vault-and-tracker/web-kit/api'
import { Confirm, Dialog, toast, toastProblem } from '@vault-and-tracker/web-kit/feedback'
import { Button } from '@vault-and-tracker/web-kit/form'
import { formatNumberOf } from '@vault-and-tracker/web-kit/format'
import { api } from '../../api/client.ts'
import { reloadCategories } from './queries.ts'
import type { TreeRow } from './tree.ts'

/** Deletes an empty category. For any other, lists what to move first. */
export function DeleteCategory({ row, onClose }: { row: TreeRow; onClose: () => void }) {
  const { category, subcategories } = row
  const queries = useQueryClient()
  const remove = useMutation<unknown, ApiError>({
    mutationFn: () => read(api.DELETE('/api/admin/categories/{id}', { params: { path: { id: category.id } } })),
    onSuccess: () => {
      toast(`Category ${category.name} deleted.`)
      onClose()
    },
    onError: toastProblem,
    onSettled: () => reloadCategories(queries),
  })
  if (category.torrents > 0 || subcategories > 0)
    return (
      <Dialog title={`Category ${category.name} is not empty`} onClose={onClose}>
        {category.torrents > 0 && (
          <p>
            It contains{' '}
            <Link to="/torrents" search={{ category: category.slug }}>
              {formatNumberOf(category.torrents, 'torrent')}
            </Link>
            . Move them to another category first.
          </p>
        )}
        {subcategories > 0 && (
          <p>
            It has {formatNumberOf(subcategories, 'subcategory', 'subcategories')}. Delete them or move them to another
            category first.
          </p>
        )}
        <div className="form-actions">
          <Button onClick={onClose}>Close</Button>
        </div>
      </Dialog>
    )
  return (
    <Confirm
      title={`Delete category ${category.name}?`}
      action="Delete category"
      isBusy={remove.isPending}
      onConfirm={() => remove.mutate()}
      onCancel={onClose}
    >
      <p>
        The category is empty. Tools can no longer search Torznab ID {category.torznabId} unless another category has
        it.
      </p>
    </Confirm>
  )
}
