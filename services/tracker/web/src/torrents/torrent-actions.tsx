import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type ApiError, read } from '@vault-and-tracker/web-kit/api'
import { FormDialog, toast } from '@vault-and-tracker/web-kit/feedback'
import { Button, Field, TextArea, TextField } from '@vault-and-tracker/web-kit/form'
import { formatCount } from '@vault-and-tracker/web-kit/format'
import { useState } from 'react'
import { CategoryOptions } from '../api/category-options.tsx'
import { api, type Torrent } from '../api/client.ts'
import { IDS, IdFields } from '../release/id-fields.tsx'
import { BreakableName } from '../release/release-tags.tsx'
import { FactorsDialog } from './factors-dialog.tsx'
import { useSaveTorrent } from './save-torrent.ts'

/** As the API has it: clients show the reason as it is sent. */
const REASON_MAX = 120

/** What uploaders and staff do with a torrent. */
export function TorrentActions({ torrent, isStaff }: { torrent: Torrent; isStaff: boolean }) {
  const [open, setOpen] = useState<'edit' | 'factors' | 'delete'>()
  return (
    <>
      <Button onClick={() => setOpen('edit')}>Edit</Button>
      {isStaff && <Button onClick={() => setOpen('factors')}>Freeleech</Button>}
      <Button kind="danger" onClick={() => setOpen('delete')}>
        Delete
      </Button>
      {open === 'edit' && <EditDialog torrent={torrent} onClose={() => setOpen(undefined)} />}
      {open === 'factors' && <FactorsDialog torrent={torrent} onClose={() => setOpen(undefined)} />}
      {open === 'delete' && <DeleteDialog torrent={torrent} onClose={() => setOpen(undefined)} />}
    </>
  )
}

type Edit = Pick<Torrent, 'name' | 'category' | 'description' | 'imdb' | 'tmdb' | 'tvdb'>

function EditDialog({ torrent, onClose }: { torrent: Torrent; onClose: () => void }) {
  const edit = useSaveTorrent<Edit>(torrent.id, onClose)
  return (
    <FormDialog
      title="Edit this torrent"
      action="Save"
      fields={['name', 'category', 'description', ...IDS]}
      error={edit.error}
      isBusy={edit.isPending}
      onSubmit={(values) => edit.mutate(editOf(values))}
      onClose={onClose}
    >
      <TextField label="Name" name="name" defaultValue={torrent.name} required maxLength={255} error={edit.error} />
      <Field label="Category" name="category" error={edit.error}>
        {(attributes) => (
          <select {...attributes} className="input" required defaultValue={torrent.category}>
            {torrent.category === '' && <option value="">None; choose one</option>}
            <CategoryOptions />
          </select>
        )}
      </Field>
      <TextArea
        label="Description"
        name="description"
        defaultValue={torrent.description}
        maxLength={20_000}
        error={edit.error}
      />
      <IdFields torrent={torrent} error={edit.error} />
    </FormDialog>
  )
}

/** An id whose field is empty is taken away. */
function editOf(values: Readonly<Record<string, string>>): Edit {
  const { name = '', category = '', description = '', imdb = '', tmdb = '', tvdb = '' } = values
  const numberOf = (text: string): number | null => (text === '' ? null : Number(text))
  return { name, category, description, imdb: imdb || null, tmdb: numberOf(tmdb), tvdb: numberOf(tvdb) }
}

function DeleteDialog({ torrent, onClose }: { torrent: Torrent; onClose: () => void }) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const remove = useMutation<unknown, ApiError, string>({
    mutationFn: (reason) =>
      read(
        api.DELETE('/api/torrents/{id}', {
          params: { path: { id: torrent.id }, query: reason === '' ? {} : { reason } },
        }),
      ),
    onSuccess: async () => {
      toast('The torrent was deleted.')
      await navigate({ to: '/torrents' })
      void queries.invalidateQueries({ queryKey: ['torrents', 'list'] })
    },
  })
  const peers = torrent.seeders + torrent.leechers
  const told = peers === 0 ? '' : `, and ${peers === 1 ? '1 peer is' : `${formatCount(peers)} peers are`} told why`
  return (
    <FormDialog
      title="Delete this torrent?"
      action="Delete"
      kind="danger"
      fields={['reason']}
      error={remove.error}
      isBusy={remove.isPending}
      onSubmit={({ reason = '' }) => remove.mutate(reason.trim())}
      onClose={onClose}
      intro={
        <>
          <p>
            <BreakableName name={torrent.name} />
          </p>
          <p>It leaves the catalogue{told}. This cannot be undone.</p>
        </>
      }
    >
      <TextField
        label="Reason"
        name="reason"
        maxLength={REASON_MAX}
        pattern="[ -~]*"
        title="Letters, digits and signs of ASCII"
        hint="Clients that announce it are told this for 30 days."
        error={remove.error}
        data-focus=""
      />
    </FormDialog>
  )
}
