import { createTurns } from '@vault-and-tracker/service-kit/core/concurrency'
import { type TorrentContent, writeTorrentFile } from './torrent-file.ts'

/** A file of 10 MiB blocks the event loop for about 50 ms, so several at once would block it for seconds. */
const AT_ONCE = 2

/** Settings that go into every downloaded file. */
export type DownloadSettings = {
  readonly publicUrl: string
  readonly announceUrl: (passkey: string) => string
  /** The announce URL of browsers; undefined if WebSockets are disabled. */
  readonly socketUrl: ((passkey: string) => string) | undefined
}

/** Builds the .torrent file of a torrent with a passkey in it; undefined if the torrent was deleted. */
export type MakeFile = (
  torrent: { readonly id: string; readonly createdAt: Date },
  passkey: string,
) => Promise<Buffer | undefined>

type Source = Pick<TorrentContent, 'info' | 'pieceLayers'>

/** Creates the function, which builds two files at a time so that other requests run in between. */
export function createMakeFile(
  store: { readonly source: (id: string) => Promise<Source | undefined> },
  { publicUrl, announceUrl, socketUrl }: DownloadSettings,
): MakeFile {
  const inTurn = createTurns(AT_ONCE)
  return ({ id, createdAt }, passkey) =>
    inTurn(async () => {
      const content = await store.source(id)
      return (
        content &&
        writeTorrentFile(content, {
          announceUrl: announceUrl(passkey),
          furtherTiers: socketUrl ? [[socketUrl(passkey)]] : [],
          comment: `${publicUrl}/torrents/${id}`,
          createdAt,
        })
      )
    })
}
