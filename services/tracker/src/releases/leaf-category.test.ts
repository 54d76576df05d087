import { describe, expect, test } from '@jest/globals'
import { leafCategoryFor } from './leaf-category.ts'
import { parseReleaseName } from './release-name.ts'

const TREE: Readonly<Record<number, readonly number[]>> = {
  2000: [2040, 2045, 2030, 2050],
  5000: [5040, 5045, 5030, 5070, 5080],
  3000: [3010, 3040],
  4050: [4050, 1000, 1180, 1040],
  4000: [4020, 4030],
  7000: [7020, 7030, 7010],
  6000: [],
  8000: [],
}

function leafOf(name: string, root: number, ids = TREE[root] ?? []): number {
  const children = ids.map((torznabId) => ({ torznabId }))
  return leafCategoryFor(parseReleaseName(name), { torznabId: root }, children).torznabId
}

test.each([
  ['A.Film.1999.1080p.BluRay.x264-GRP', 2000, 2040],
  ['A.Film.1999.720p.WEB-DL.x264-GRP', 2000, 2040],
  ['A.Film.1999.2160p.WEB-DL.H265-GRP', 2000, 2045],
  ['A.Film.1999.4K.HDR.WEB-DL', 2000, 2045],
  ['A.Film.1999.DVDRip.XviD-GRP', 2000, 2030],
  ['A.Film.1999.576p.DVD.x264-GRP', 2000, 2030],
  ['A Film (1999)', 2000, 2030],
  ['A.Film.1999.COMPLETE.BLURAY-GRP', 2000, 2050],
  ['A.Film.1999.COMPLETE.UHD.BLURAY-GRP', 2000, 2050],
  ['A.Film.1999.1080p.BluRay.AVC.BDMV-GRP', 2000, 2050],
  ['A.Film.1999.BluRay.Remux.AVC-GRP', 2000, 2040],
  ['A.Show.S01E02.1080p.WEB.H264-GRP', 5000, 5040],
  ['A.Show.S01E02.1080i.HDTV.H264-GRP', 5000, 5040],
  ['A.Show.S01E02.2160p.WEB.H265-GRP', 5000, 5045],
  ['A.Show.S01E02.HDTV.XviD-GRP', 5000, 5030],
  ['[Group] Anime - 07 (1080p) [ABCD1234]', 5000, 5070],
  ['Worlds.S01E02.DOCUMENTARY.1080p.WEB.H264-GRP', 5000, 5080],
  ['Artist - Album (2003) [FLAC]', 3000, 3040],
  ['Artist - Album (2003) [MP3 320]', 3000, 3010],
  ['Artist-Album-CD-2003-GRP', 3000, 3010],
  ['Artist - Album (2003)', 3000, 3000],
  ['Author - Book (Unabridged) [M4B]', 3000, 3000],
  ['Game.v1.2-CODEX', 4050, 4050],
  ['Game.PS4-DUPLEX', 4050, 1180],
  ['Game.XBOX360-GRP', 4050, 1040],
  ['Game.NSW-VENOM', 4050, 1000],
  ['Editor.2024.Windows.x64-GRP', 4000, 4020],
  ['Editor.2024.macOS-GRP', 4000, 4030],
  ['Editor.2024-GRP', 4000, 4000],
  ['Author - Book (2015) [EPUB]', 7000, 7020],
  ['Author - Book', 7000, 7020],
  ['Captain Vector 012 (2019) (Digital).cbr', 7000, 7030],
  ['Science Monthly - May 2024 [PDF]', 7000, 7010],
  ['Anything.1080p', 6000, 6000],
  ['Anything.1080p', 8000, 8000],
  ['Anything.1080p', 100_123, 100_123],
])('%s in %i belongs to %i', (name, root, leaf) => {
  expect(leafOf(name, root)).toBe(leaf)
})

describe('a root without the right child', () => {
  test('gives the next best', () => {
    expect(leafOf('A.Film.1999.COMPLETE.BLURAY-GRP', 2000, [2040, 2030])).toBe(2040)
    expect(leafOf('[Group] Anime - 07 (1080p)', 5000, [5040])).toBe(5040)
    expect(leafOf('Game.PS4-DUPLEX', 4050, [1000])).toBe(1000)
  })

  test('keeps the release', () => {
    expect(leafOf('A.Film.1999.1080p.BluRay.x264-GRP', 2000, [])).toBe(2000)
    expect(leafOf('Author - Book (Unabridged) [M4B]', 7000)).toBe(7000)
  })
})
