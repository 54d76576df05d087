import { createTurns } from '@vault-and-tracker/service-kit/core/concurrency'
import { type TorrentContent, writeTorrentFile } from './torrent-file.ts'

/** A file of 10 MiB keeps the event loop for some 50 ms, so many that come at once would keep it for seconds. */
const AT_ONCE = 2

/** What every file that is downloaded says. */
export type DownloadSettings = {
  readonly publicUrl: string
  readonly announceUrl: (passkey: string) => string
  /** Where browsers announce; undefined where they cannot. */
  readonly socketUrl: ((passkey: string) => string) | undefined
}

/** Makes the .torrent file of a torrent with a passkey in it; undefined where the torrent is gone. */
export type MakeFile = (
  torrent: { readonly id: string; readonly createdAt: Date },
  passkey: string,
) => Promise<Buffer | undefined>

type Source = Pick<TorrentContent, 'info' | 'pieceLayers'>

/** Creates the function; it makes few files at once, and others have their turn in between. */
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
