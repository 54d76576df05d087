import type { Multipliers } from './directory.ts'

/** Of all multipliers that apply to a transfer (the torrent's, the user's, the site's), the best for the user count. */
export function bestOf(multipliers: readonly Multipliers[]): Multipliers {
  return {
    uploadPercent: Math.max(...multipliers.map(({ uploadPercent }) => uploadPercent)),
    downloadPercent: Math.min(...multipliers.map(({ downloadPercent }) => downloadPercent)),
  }
}
