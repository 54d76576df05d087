import { expect } from '@jest/globals'
import { TorrentError, type TorrentErrorCode, type TorrentLimits } from '../../src/index.ts'
import { parseTorrent } from '../../src/testing.ts'
import { TORRENT_ERRORS } from '../../src/torrent/error.ts'

/** The code with which `parseTorrent` refuses these bytes; undefined when it accepts them. */
export function refusal(bytes: Uint8Array, limits?: TorrentLimits): TorrentErrorCode | undefined {
  try {
    parseTorrent(bytes, limits)
    return undefined
  } catch (error) {
    if (!(error instanceof TorrentError)) throw error
    expect(error.message).toBe(TORRENT_ERRORS[error.code])
    return error.code
  }
}
