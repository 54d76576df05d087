import { useQueryClient } from '@tanstack/react-query'
import { FormDialog } from '@vault-and-tracker/web-kit/feedback'
import { SelectField, TextArea, TextField, type Values } from '@vault-and-tracker/web-kit/form'
import { CategoryOptions } from '../api/category-options.tsx'
import type { Torrent } from '../api/client.ts'
import { IDS, IdFields } from './id-fields.tsx'
import { MarkFields } from './mark-fields.tsx'
import { useSaveTorrent } from './save-torrent.ts'
import { TEXTS, TextFields } from './text-fields.tsx'

type Edit = Pick<Torrent, 'name' | 'category' | 'description' | 'imdb' | 'tmdb' | 'tvdb' | 'anonymous' | 'scene'> & {
  internal?: boolean
  nfo?: string | null
  mediaInfo?: string | null
}

/** Edits the fields of a torrent; staff can also mark it as internal. */
export function EditDialog({ torrent, isStaff, onClose }: { torrent: Torrent; isStaff: boolean; onClose: () => void }) {
  const queries = useQueryClient()
  const edit = useSaveTorrent<Edit>(torrent.id, () => {
    void queries.invalidateQueries({ queryKey: ['torrents', 'details', torrent.id] })
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
