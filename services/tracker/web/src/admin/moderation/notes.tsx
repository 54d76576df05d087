import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type ApiError, read } from '@vault-and-tracker/web-kit/api'
import { Form, TextArea } from '@vault-and-tracker/web-kit/form'
import { formatExactTime } from '@vault-and-tracker/web-kit/format'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { torrentNotes } from './queries.ts'

/** Notes of staff on a torrent. */
export function Notes({ id }: { id: string }) {
  const queries = useQueryClient()
  const { data = [] } = useQuery(torrentNotes(id))
  const [added, setAdded] = useState(0)
  const add = useMutation<unknown, ApiError, string>({
    mutationFn: (text) =>
      read(api.POST('/api/admin/torrents/{id}/notes', { params: { path: { id } }, body: { text } })),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: torrentNotes(id).queryKey })
      setAdded(added + 1)
    },
  })
  return (
    <>
      <h3>Staff notes</h3>
      {data.length > 0 && (
        <ul className="bullets" aria-label="Notes">
          {data.map(({ id: note, text, created, author }) => (
            <li key={note}>
              <p className="description">{text}</p>
              <p className="muted">
                {author.username}, <time dateTime={created}>{formatExactTime(created)}</time>
              </p>
            </li>
          ))}
        </ul>
      )}
      <Form
        key={added}
        label="Add a note"
        fields={['text']}
        error={add.error}
        isBusy={add.isPending}
        onSubmit={({ text = '' }) => add.mutate(text)}
        submit="Add note"
      >
        <TextArea
          label="Note"
          name="text"
          required
          rows={2}
          maxLength={1_000}
          hint="Visible to staff only."
          error={add.error}
        />
      </Form>
    </>
  )
}
