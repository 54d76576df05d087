import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type ApiError, read } from '@vault-and-tracker/web-kit/api'
import { FormDialog, toast } from '@vault-and-tracker/web-kit/feedback'
import { Button, SelectField, TextArea, TextField, type Values } from '@vault-and-tracker/web-kit/form'
import { formatNumberOf } from '@vault-and-tracker/web-kit/format'
import { useState } from 'react'
import { CategoryOptions } from '../api/category-options.tsx'
import { api, type Torrent } from '../api/client.ts'
import { IDS, IdFields } from '../release/id-fields.tsx'
import { MarkFields } from '../release/mark-fields.tsx'
import { BreakableName } from '../release/release-tags.tsx'
import { TEXTS, TextFields } from '../release/text-fields.tsx'
import { RatesDialog } from './rates-dialog.tsx'
import { useSaveTorrent } from './save-torrent.ts'
import { torrentDetails } from './torrent-queries.ts'

/** As in the API. */
const REASON_MAX = 120

/** The actions of the uploader and of staff. */
export function TorrentActions({ torrent, isStaff }: { torrent: Torrent; isStaff: boolean }) {
  const [open, setOpen] = useState<'edit' | 'rates' | 'delete'>()
  return (
    <>
      <Button onClick={() => setOpen('edit')}>Edit torrent</Button>
      {isStaff && <Button onClick={() => setOpen('rates')}>Set rates</Button>}
      <Button kind="danger" onClick={() => setOpen('delete')}>
        Delete torrent
      </Button>
      {open === 'edit' && <EditDialog torrent={torrent} isStaff={isStaff} onClose={() => setOpen(undefined)} />}
      {open === 'rates' && <RatesDialog torrent={torrent} onClose={() => setOpen(undefined)} />}
      {open === 'delete' && <DeleteDialog torrent={torrent} onClose={() => setOpen(undefined)} />}
    </>
  )
}

type Edit = Pick<Torrent, 'name' | 'category' | 'description' | 'imdb' | 'tmdb' | 'tvdb' | 'anonymous' | 'scene'> & {
  internal?: boolean
  nfo?: string | null
  mediaInfo?: string | null
}

function EditDialog({ torrent, isStaff, onClose }: { torrent: Torrent; isStaff: boolean; onClose: () => void }) {
  const queries = useQueryClient()
  const edit = useSaveTorrent<Edit>(torrent.id, () => {
    void queries.invalidateQueries({ queryKey: torrentDetails(torrent.id).queryKey })
    onClose()
  })
  return (
    <FormDialog
      title="Edit torrent"
      action="Save torrent"
      fields={['name', 'category', 'description', ...IDS, ...TEXTS]}
      error={edit.error}
      isBusy={edit.isPending}
      onSubmit={(values) => edit.mutate(editOf(values, isStaff))}
      onClose={onClose}
    >
      <TextField label="Name" name="name" defaultValue={torrent.name} required maxLength={255} error={edit.error} />
      <SelectField label="Category" name="category" required defaultValue={torrent.category} error={edit.error}>
        {torrent.category === '' && <option value="">Choose a category</option>}
        <CategoryOptions />
      </SelectField>
      <TextArea
        label="Description"
        name="description"
        defaultValue={torrent.description}
        maxLength={20_000}
        hint="Markdown. Images become links."
        error={edit.error}
      />
      <IdFields torrent={torrent} error={edit.error} />
      <TextFields error={edit.error} replaces />
      {torrent.hasNfo && <Removal name="removeNfo" what="NFO" />}
      {torrent.hasMediaInfo && <Removal name="removeMediaInfo" what="MediaInfo" />}
      <MarkFields marks={torrent} isStaff={isStaff} />
    </FormDialog>
  )
}

function Removal({ name, what }: { name: string; what: string }) {
  return (
    <label className="switch">
      <input type="checkbox" name={name} value="true" />
      Remove {what}
    </label>
  )
}

/** An empty field removes the id, and keeps the text. */
function editOf(values: Values, isStaff: boolean): Edit {
  const { name = '', category = '', description = '', imdb = '', tmdb = '', tvdb = '' } = values
  const { nfo = '', mediaInfo = '', removeNfo, removeMediaInfo } = values
  const numberOf = (text: string): number | null => (text === '' ? null : Number(text))
  return {
    ...{ name, category, description, imdb: imdb || null, tmdb: numberOf(tmdb), tvdb: numberOf(tvdb) },
    ...{ anonymous: values['anonymous'] !== undefined, scene: values['scene'] !== undefined },
    ...(isStaff && { internal: values['internal'] !== undefined }),
    ...(removeNfo === undefined ? nfo !== '' && { nfo } : { nfo: null }),
    ...(removeMediaInfo === undefined ? mediaInfo !== '' && { mediaInfo } : { mediaInfo: null }),
  }
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
      toast('Torrent deleted.')
      await navigate({ to: '/torrents' })
      void queries.invalidateQueries({ queryKey: ['torrents', 'list'] })
    },
  })
  const peers = torrent.seeders + torrent.leechers
  return (
    <FormDialog
      title="Delete this torrent?"
      action="Delete torrent"
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
          <p>
            This permanently removes the torrent from the tracker
            {peers > 0 && `; ${formatNumberOf(peers, 'peer')} will see the reason`}.
          </p>
        </>
      }
    >
      <TextField
        label="Reason"
        name="reason"
        maxLength={REASON_MAX}
        pattern="[ -~]*"
        title="ASCII characters only"
        hint="Shown for 30 days to clients that still announce it."
        error={remove.error}
        data-focus=""
      />
    </FormDialog>
  )
}
