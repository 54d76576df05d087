import { ApiError } from '@vault-and-tracker/web-kit/api'
import type { Torrent } from '../api/client.ts'

/**
 * Sends an upload and tells how much of it has gone out, which only XMLHttpRequest can.
 *
 * @param onProgress gets the part that was sent, 0 to 1
 * @throws ApiError
 */
export function sendUpload(form: FormData, onProgress: (part: number) => void): Promise<Torrent> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    request.open('POST', '/api/torrents')
    request.responseType = 'json'
    request.upload.onprogress = ({ loaded, total }) => onProgress(total === 0 ? 0 : loaded / total)
    request.onerror = () =>
      reject(new ApiError({ status: 0, code: 'UNREACHABLE', message: 'The server was not reached.' }))
    request.onload = () => {
      const { status } = request
      if (status === 201) {
        resolve(request.response as Torrent)
        return
      }
      const body = request.response as { error?: { code: string; message: string } } | null
      reject(new ApiError({ status, code: 'UNKNOWN', message: `The server answered ${status}.`, ...body?.error }))
    }
    request.send(form)
  })
}

/** A form of the fields that have a value. */
export function formOf(fields: Readonly<Record<string, string | File | undefined>>): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) if (value !== undefined && value !== '') form.set(name, value)
  return form
}
