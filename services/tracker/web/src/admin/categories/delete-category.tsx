import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type ApiError, read } from '@vault-and-tracker/web-kit/api'
import { Confirm, Dialog, toast, toastProblem } from '@vault-and-tracker/web-kit/feedback'
import { Button } from '@vault-and-tracker/web-kit/form'
import { formatCount } from '@vault-and-tracker/web-kit/format'
import { api } from '../../api/client.ts'
import { forgetCategories } from './queries.ts'
import type { TreeRow } from './tree.ts'

/** Deletes an empty category; of any other it says what has to be moved first. */
export function DeleteCategory({ row, onClose }: { row: TreeRow; onClose: () => void }) {
  const { category, subcategories } = row
  const queries = useQueryClient()
  const remove = useMutation<unknown, ApiError>({
    mutationFn: () => read(api.DELETE('/api/admin/categories/{id}', { params: { path: { id: category.id } } })),
    onSuccess: () => {
      toast(`${category.name} was deleted.`)
      onClose()
    },
    onError: toastProblem,
    onSettled: () => forgetCategories(queries),
  })
  if (category.torrents > 0 || subcategories > 0)
    return (
      <Dialog title={`${category.name} is not empty`} onClose={onClose}>
        {category.torrents > 0 && (
          <p>
            It holds{' '}
            <Link to="/torrents" search={{ category: category.slug }}>
              {category.torrents === 1 ? '1 torrent' : `${formatCount(category.torrents)} torrents`}
            </Link>
            . Give them another category first.
          </p>
        )}
        {subcategories > 0 && (
          <p>
            It has {subcategories === 1 ? '1 subcategory' : `${subcategories} subcategories`}. Delete these or put them
            below another category first.
          </p>
        )}
        <div className="form-actions">
          <Button onClick={onClose}>Close</Button>
        </div>
      </Dialog>
    )
  return (
    <Confirm
      title={`Delete ${category.name}?`}
      action="Delete"
      isBusy={remove.isPending}
      onConfirm={() => remove.mutate()}
      onCancel={onClose}
    >
      <p>
        It holds no torrents. Tools that search Torznab category {category.torznabId} find it no more once no other
        category has this id.
      </p>
    </Confirm>
  )
}
