import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type ApiError, read } from '@vault-and-tracker/web-kit/api'
import { ConfirmByName, toast } from '@vault-and-tracker/web-kit/feedback'
import { formatCount } from '@vault-and-tracker/web-kit/format'
import { api } from '../../api/client.ts'
import { forgetCategories } from './queries.ts'
import type { TreeRow } from './tree.ts'

/** Deletes every category, once it was said what that does to the torrents. */
export function DeleteAll({ rows, onClose }: { rows: readonly TreeRow[]; onClose: () => void }) {
  const queries = useQueryClient()
  const remove = useMutation<{ categories: number; torrents: number }, ApiError>({
    mutationFn: () => read(api.DELETE('/api/admin/categories')),
    onSuccess: async ({ categories, torrents }) => {
      toast(`${counted(categories, 'category', 'categories')} deleted. ${losing(torrents)}.`)
      await forgetCategories(queries)
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
        <li>{counted(rows.length, 'category is', 'categories are')} deleted.</li>
        <li>{losing(torrents)}. No torrent is deleted, and clients go on seeding.</li>
        <li>Nobody can upload, and tools find nothing by category, until there are categories again.</li>
        <li>A category that is made with the same slug, as by seeding, has its torrents again.</li>
      </ul>
    </ConfirmByName>
  )
}

function losing(torrents: number): string {
  if (torrents === 0) return 'No torrent loses its category'
  return torrents === 1 ? '1 torrent loses its category' : `${formatCount(torrents)} torrents lose their category`
}

function counted(count: number, one: string, many: string): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`
}
