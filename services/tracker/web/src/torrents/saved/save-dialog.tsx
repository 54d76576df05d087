import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type ApiError, read } from '@vault-and-tracker/web-kit/api'
import { FormDialog, toast } from '@vault-and-tracker/web-kit/feedback'
import { TextField } from '@vault-and-tracker/web-kit/form'
import { api, type SavedSearch } from '../../api/client.ts'
import { type ListSearch, textOf } from '../list-search.ts'
import { savedSearches } from './queries.ts'

const NAME_MAX = 60

/** Asks for the name and the notices of a search. A saved one is changed, a new one is created and shown. */
export function SaveDialog(props: { search?: ListSearch; saved?: SavedSearch; onClose: () => void }) {
  const { search = {}, saved, onClose } = props
  const queries = useQueryClient()
  const navigate = useNavigate()
  const save = useMutation<SavedSearch, ApiError, { name: string; notify: boolean }>({
    mutationFn: (body) =>
      read(
        saved === undefined
          ? api.POST('/api/saved-searches', { body: { ...body, filters: textOf(search) } })
          : api.PATCH('/api/saved-searches/{id}', { params: { path: { id: saved.id } }, body }),
      ),
    onSuccess: async ({ id }) => {
      toast('Saved.')
      await queries.invalidateQueries({ queryKey: savedSearches.queryKey })
      onClose()
      if (saved === undefined) void navigate({ to: '/torrents', search: { ...search, saved: id } })
    },
  })
  return (
    <FormDialog
      title={saved === undefined ? 'Save search' : 'Edit saved search'}
      action={saved === undefined ? 'Save search' : 'Save changes'}
      fields={['name']}
      error={save.error}
      isBusy={save.isPending}
      onSubmit={({ name = '', notify }) => save.mutate({ name, notify: notify !== undefined })}
      onClose={onClose}
    >
      <TextField
        label="Name"
        name="name"
        required
        maxLength={NAME_MAX}
        defaultValue={saved?.name}
        error={save.error}
        dir="auto"
        autoComplete="off"
        data-focus=""
      />
      <label className="switch">
        <input type="checkbox" name="notify" defaultChecked={saved?.notify} />
        Notify me of new matches
      </label>
    </FormDialog>
  )
}
