import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { setLimits, startTorznabSite, type TorznabSite } from './support/torznab.ts'

let site: TorznabSite

beforeAll(async () => {
  site = await startTorznabSite()
  await setLimits(site.tracker)
})

afterAll(() => site.tracker.stop())

test('the tag freeleech includes or excludes torrents that are free for the caller', async () => {
  const free = 'Tagged.Film.2020.1080p.BluRay.x264-GRP'
  const counted = 'Tagged.Film.2021.1080p.BluRay.x264-GRP'
  const { id } = await site.upload(free, { category: 'movies-hd' })
  await site.upload(counted, { category: 'movies-hd' })
  const admin = await site.tracker.signedIn('giver', 'admin')
  await admin.patch(`/api/torrents/${id}`, { downloadPercent: 0 })
  const found = () =>
    Promise.all(
      ['freeleech', '-freeleech', 'freeleech,internal'].map((tag) => site.titles(`t=movie&q=tagged&tag=${tag}`)),
    )
  expect(await found()).toEqual([[free], [counted], []])
  expect(await site.titles('t=search&tag=FREELEECH')).toEqual([free])
  await admin.patch(`/api/admin/users/${site.uploader.id}`, { downloadPercent: 0 })
  expect(await found()).toEqual([[counted, free], [], []])
  await admin.patch(`/api/admin/users/${site.uploader.id}`, { downloadPercent: 100 })
})
