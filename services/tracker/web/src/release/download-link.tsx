import { useMutation } from '@tanstack/react-query'
import { read } from '@vault-and-tracker/web-kit/api'
import { toastProblem } from '@vault-and-tracker/web-kit/feedback'
import { saveFile } from '@vault-and-tracker/web-kit/form'
import type { ComponentProps } from 'react'
import { api } from '../api/client.ts'

/** Downloads the .torrent of a torrent. A browser would not show why the tracker refuses a download. */
export function DownloadLink(props: { torrent: { id: string; name: string } } & ComponentProps<'a'>) {
  const { torrent, ...rest } = props
  const { id, name } = torrent
  const download = useMutation({
    mutationFn: () => read(api.GET('/api/torrents/{id}/download', { params: { path: { id } }, parseAs: 'blob' })),
    onSuccess: (file) => saveFile(`${name}.torrent`, file),
    onError: toastProblem,
  })
  return (
    <a
      {...rest}
      href={`/api/torrents/${id}/download`}
      download
      onClick={(event) => {
        event.preventDefault()
        if (!download.isPending) download.mutate()
      }}
    />
  )
}
