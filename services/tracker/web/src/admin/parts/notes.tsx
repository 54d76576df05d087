import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type ApiError, read } from '@vault-and-tracker/web-kit/api'
import { Form, TextArea } from '@vault-and-tracker/web-kit/form'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { StaffTexts } from './staff-texts.tsx'

type Subject = { readonly type: 'torrent' | 'user'; readonly id: string }

/** Newest first. */
const staffNotes = ({ type, id }: Subject) =>
  queryOptions({
    queryKey: ['admin', 'notes', type, id],
    queryFn: async ({ signal }) => {
      const params = { path: { id } }
      const { items } = await (type === 'torrent'
        ? read(api.GET('/api/admin/torrents/{id}/notes', { params, signal }))
        : read(api.GET('/api/admin/users/{id}/notes', { params, signal })))
      return items
    },
  })

/** Staff notes on a torrent or a user, below a heading. */
export function Notes({ about }: { about: Subject }) {
  const queries = useQueryClient()
  const { data = [] } = useQuery(staffNotes(about))
  const [added, setAdded] = useState(0)
  const add = useMutation<unknown, ApiError, string>({
    mutationFn: (text) => {
      const input = { params: { path: { id: about.id } }, body: { text } }
      return about.type === 'torrent'
        ? read(api.POST('/api/admin/torrents/{id}/notes', input))
        : read(api.POST('/api/admin/users/{id}/notes', input))
    },
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: staffNotes(about).queryKey })
      setAdded(added + 1)
    },
  })
  return (
    <>
      {data.length > 0 && <StaffTexts texts={data} label="Notes" />}
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
