import { newId } from '@vault-and-tracker/service-kit/core/ids'
import type { InsertObject } from 'kysely'
import type { Schema } from '../../src/db/schema.ts'
import { parseReleaseName } from '../../src/releases/release-name.ts'
import { nameFieldsOf } from '../../src/releases/search-words.ts'
import type { NewTorrent } from '../../src/torrents/torrents.ts'
import { NO_DETAILS } from './make-torrent.ts'
import type { TestTracker } from './tracker.ts'

/** An approved torrent as a member's upload is stored, with everything that follows from its name, but no file. */
export function torrentNamed(
  name: string,
  given: Pick<NewTorrent, 'categoryId' | 'uploaderId' | 'externalIds' | 'createdAt'> & {
    readonly infoHash: string
    readonly size?: number
  },
): NewTorrent {
  const { infoHash, size = 1_000_000, ...rest } = given
  return {
    ...nameFieldsOf(name, parseReleaseName(name)),
    ...NO_DETAILS,
    ...rest,
    id: newId(),
    content: {
      ...{ name, infoHash, infoHashV2: null, size, fileCount: 1 },
      ...{ firstFiles: [], fileList: Buffer.alloc(0), info: Buffer.alloc(0), pieceLayers: null },
    },
    uploaderRole: 'member',
    description: '',
    state: 'approved',
    stateReason: null,
    bytesPerDay: undefined,
  }
}

/** Stores many torrents at once, each with its number of seeders and one leecher. */
export async function storeTorrents(
  tracker: TestTracker,
  torrents: readonly {
    readonly id: string
    readonly row: InsertObject<Schema, 'torrents'>
    readonly seeders: number
  }[],
): Promise<void> {
  for (let from = 0; from < torrents.length; from += 500) {
    const part = torrents.slice(from, from + 500)
    const stats = part.map(({ id, seeders }) => ({ torrent_id: id, seeders, leechers: 1 }))
    await tracker.db
      .insertInto('torrents')
      .values(part.map(({ row }) => row))
      .execute()
    // So that the trigger of the next statement uses an index.
    await tracker.sql('analyze torrents')
    await tracker.db.insertInto('torrent_stats').values(stats).execute()
  }
}
