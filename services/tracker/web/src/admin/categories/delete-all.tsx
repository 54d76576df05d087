import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type ApiError, read } from '@vault-and-tracker/web-kit/api'
import { ConfirmByName, toast } from '@vault-and-tracker/web-kit/feedback'
import { formatNumberOf } from '@vault-and-tracker/web-kit/format'
import { api } from '../../api/client.ts'
import { reloadCategories } from './queries.ts'
import type { TreeRow } from './tree.ts'

export function DeleteAll({ rows, onClose }: { rows: readonly TreeRow[]; onClose: () => void }) {
  const queries = useQueryClient()
  const remove = useMutation<{ categories: number; torrents: number }, ApiError>({
    mutationFn: () => read(api.DELETE('/api/admin/categories')),
    onSuccess: async ({ categories, torrents }) => {
      toast(`${formatNumberOf(categories, 'category', 'categories')} deleted. ${losing(torrents)}.`)
      await reloadCategories(queries)
      onClose()
    },
  })
  const torrents = rows.reduce((sum, { category }) => sum + category.torrents, 0)
  return (
    <ConfirmByName
      title="Delete all categories?"
      name="delete all"
      action="Delete all categories"
      error={remove.error}
      isBusy={remove.isPending}
      onConfirm={() => remove.mutate()}
      onCancel={onClose}
    >
      <ul className="bullets">
        <li>This deletes {formatNumberOf(rows.length, 'category', 'categories')}.</li>
        <li>{losing(torrents)}. No torrent is deleted, and clients keep seeding.</li>
        <li>Until you create categories again, members cannot upload and tools cannot search by category.</li>
        <li>A new category with the same slug gets its torrents back.</li>
      </ul>
    </ConfirmByName>
  )
}

function losing(torrents: number): string {
  return formatNumberOf(torrents, 'torrent loses its category', 'torrents lose their category')
}
