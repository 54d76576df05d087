import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type ApiError, read } from '@vault-and-tracker/web-kit/api'
import { Confirm, Dialog, toast, toastProblem } from '@vault-and-tracker/web-kit/feedback'
import { Button, Field, Form, TextArea, TextField } from '@vault-and-tracker/web-kit/form'
import { formatCount } from '@vault-and-tracker/web-kit/format'
import { useState } from 'react'
import { CategoryOptions } from '../api/category-options.tsx'
import { api, type Torrent } from '../api/client.ts'
import { FactorsDialog } from './factors-dialog.tsx'
import { useSaveTorrent } from './save-torrent.ts'

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

function EditDialog({ torrent, onClose }: { torrent: Torrent; onClose: () => void }) {
  const edit = useSaveTorrent<{ name: string; category: string; description: string }>(torrent.id, onClose)
  return (
    <Dialog title="Edit this torrent" onClose={onClose}>
      <Form
        label="Edit this torrent"
        fields={['name', 'category', 'description']}
        error={edit.error}
        isBusy={edit.isPending}
        onSubmit={({ name = '', category = '', description = '' }) => edit.mutate({ name, category, description })}
        actions={
          <>
            <Button type="submit" kind="main" isBusy={edit.isPending}>
              Save
            </Button>
            <Button onClick={onClose}>Cancel</Button>
          </>
        }
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
      </Form>
    </Dialog>
  )
}

function DeleteDialog({ torrent, onClose }: { torrent: Torrent; onClose: () => void }) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const remove = useMutation<unknown, ApiError>({
    mutationFn: () => read(api.DELETE('/api/torrents/{id}', { params: { path: { id: torrent.id } } })),
    onSuccess: async () => {
      toast('The torrent was deleted.')
      await navigate({ to: '/torrents' })
      void queries.invalidateQueries({ queryKey: ['torrents', 'list'] })
    },
    onError: toastProblem,
  })
  const peers = torrent.seeders + torrent.leechers
  return (
    <Confirm
      title="Delete this torrent?"
      action="Delete"
      isBusy={remove.isPending}
      onConfirm={() => remove.mutate()}
      onCancel={onClose}
    >
      <p>{torrent.name}</p>
      <p>
        It leaves the catalogue, and {peers === 1 ? 'one peer is' : `${formatCount(peers)} peers are`} told that it was
        deleted. This cannot be undone.
      </p>
    </Confirm>
  )
}
