import type { Torrent } from '../../api/client.ts'

/** What the catalogue said about a release at its upload. */
export const VERDICT_NAMES: Readonly<Record<NonNullable<Torrent['verdict']>, string>> = {
  duplicate: 'Duplicate',
  covered: 'In a season pack',
  replaces: 'Replaces a release',
}
