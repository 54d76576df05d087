import { expect, test } from '@jest/globals'
import { clientFamily } from './request-log.ts'

test.each([
  ['Sonarr/4.0.10.2544 (alpine 3.20.3)', 'Sonarr'],
  ['Sonarr/3.0.10.1567 (macos 13.6)', 'Sonarr'],
  ['NzbDrone/2.0.0.5344 (windows 10.0.19045.0)', 'Sonarr'],
  ['Radarr/5.14.0.9383 (ubuntu 22.04)', 'Radarr'],
  ['Lidarr/2.7.1.4417 (debian 12)', 'Lidarr'],
  ['Whisparr/2.0.0.987 (debian 12)', 'Whisparr'],
  ['Prowlarr/1.25.4.4818 (alpine 3.20.3)', 'Prowlarr'],
  ['Jackett/v0.22.937', 'Jackett'],
  ['NZBHydra2', 'NZBHydra2'],
  ['NZBHydra2/7.10.2', 'NZBHydra2'],
  ['CrossSeed/6.13.7', 'cross-seed'],
  ['cross-seed/7.0.0-pre.3', 'cross-seed'],
  ['autobrr', 'autobrr'],
  ['autobrr/1.53.0 (linux; amd64)', 'autobrr'],
  ['FlexGet/3.13.6 (www.flexget.com)', 'FlexGet'],
  ['Medusa/1.0.22 (Linux; 6.1.0; 0b8ed1a4-3a75-11ef-9f4c-0242ac110002)', 'Medusa'],
  ['SickChill.2024.3.1 (Linux; 5.15.0)', 'SickChill'],
  ['Mylar3/0.8.0', 'Mylar'],
  ['qui/1.9.1 (linux; amd64)', 'qui'],
  ['qBittorrent/5.0.2', 'qBittorrent'],
  ['qBittorrent/4.6.7', 'qBittorrent'],
  ['Mozilla/5.0 (X11; Linux x86_64; rv:132.0) Gecko/20100101 Firefox/132.0', 'browser'],
  [
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36',
    'browser',
  ],
  [
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1',
    'browser',
  ],
  ['Mozilla/5.0 (compatible; Prowlarr/1.25.4.4818)', 'Prowlarr'],
  ['curl/8.11.0', 'library'],
  ['python-requests/2.32.3', 'library'],
  ['Go-http-client/1.1', 'library'],
  ['node', 'library'],
  ['axios/1.7.7', 'library'],
  ['Java/17.0.13', 'library'],
  ['Sonarrish/1.0', 'other'],
  ['my-own-script 1.0', 'other'],
  ['', 'other'],
])('%j belongs to the family %s', (userAgent, family) => {
  expect(clientFamily(userAgent)).toBe(family)
})

test('only the beginning of a User-Agent is read', () => {
  expect(clientFamily(`${' '.repeat(300)}Sonarr/4.0`)).toBe('other')
  expect(clientFamily(`Mozilla/5.0 ${'('.repeat(1_000_000)} Firefox`)).toBe('other')
})
