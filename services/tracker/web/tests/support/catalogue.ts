import type { Client } from '../../../tests/support/client.ts'
import type { TestTracker } from '../../../tests/support/tracker.ts'
import { addTorrent } from './site.ts'

/** Torrents of each kind, as a catalogue has them. */
export const RELEASES = {
  episode: 'The.Long.Harbour.S02E05.Night.Tide.1080p.WEB-DL.DDP5.1.H.264-GROUP',
  film: 'Paper.Moons.2024.2160p.UHD.BluRay.REMUX.HDR10.HEVC.TrueHD.7.1.Atmos-OTHER',
  album: 'Quiet Field - Live at the Old Mill (2019) [FLAC]',
  book: 'an_open_textbook_of_linear_algebra_3rd_edition.epub',
} as const

const CATEGORIES = { episode: 'tv-hd', film: 'movies-uhd', album: 'audio', book: 'books' } as const
const SIZES = { episode: 3_200_000_000, film: 62_300_000_000, album: 402_653_184, book: 8_400_000 } as const
const EPISODES = 56

/** Fills a catalogue with 60 torrents of different sizes, ages and swarms. The film is freeleech and the largest. */
export async function fillCatalogue(tracker: TestTracker, uploader: Client): Promise<void> {
  for (const [kind, name] of Object.entries(RELEASES) as [keyof typeof RELEASES, string][])
    await addTorrent(uploader, name, { category: CATEGORIES[kind], size: SIZES[kind] })
  for (let index = 1; index <= EPISODES; index += 1)
    await addTorrent(uploader, `Distant.Shores.S01E${String(index).padStart(2, '0')}.720p.HDTV.x264-GROUP`, {
      size: 300_000_000 + index * 7_000_000,
    })
  await tracker.sql(`update torrent_stats set seeders = (size / 1000000) % 90, leechers = (size / 7000000) % 12,
    completed = size / 1000000 from torrents where torrents.id = torrent_id`)
  await tracker.sql(`update torrents set created_at = created_at - (size / 1000000 % 90) * interval '9 hours'`)
  await tracker.sql(`update torrents set download_percent = 0 where name = $1`, [RELEASES.film])
}
