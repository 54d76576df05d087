import { testAutobrr } from './autobrr.ts'
import { testCrossSeed } from './cross-seed.ts'
import { testJackett } from './jackett.ts'
import { testProwlarr } from './prowlarr.ts'
import { testRadarr } from './radarr.ts'
import { testSonarr } from './sonarr.ts'
import type { Indexer, Release } from './tool.ts'

/** A program that asks the API, and what its user enters where. */
export type Tool = {
  readonly name: string
  /** Where in the program an indexer is added. */
  readonly place: string
  /** Fields of the program, in its order; `{url}` and `{key}` stand for the address of the API and the passkey. */
  readonly fields: readonly (readonly [label: string, value: string])[]
  /** What follows the address of the API in what it asks. */
  readonly path: '' | '/api'
  readonly test: (indexer: Indexer) => Promise<readonly Release[]>
  /** Why its Test may find nothing where the API works. */
  readonly nothing: string
}

const ARR_FIELDS = [
  ['URL', '{url}'],
  ['API Path', '/api'],
  ['API Key', '{key}'],
] as const

/** The programs whose Test can be replayed. */
export const TOOLS: readonly Tool[] = [
  {
    name: 'Sonarr',
    place: 'Settings, Indexers, add, Torznab',
    fields: ARR_FIELDS,
    path: '/api',
    test: (indexer) => testSonarr(indexer),
    nothing:
      'No torrent is in the categories that Sonarr asks for at first: 5030 (TV/SD) and 5040 (TV/HD). Upload one, or ' +
      'choose other categories in Sonarr.',
  },
  {
    name: 'Radarr',
    place: 'Settings, Indexers, add, Torznab',
    fields: ARR_FIELDS,
    path: '/api',
    test: (indexer) => testRadarr(indexer),
    nothing:
      'No torrent is in the categories of films, 2000 to 2060. Upload one, or choose other categories in Radarr.',
  },
  {
    name: 'Prowlarr',
    place: 'Indexers, Add Indexer, Generic Torznab',
    fields: ARR_FIELDS,
    path: '/api',
    test: testProwlarr,
    nothing: 'There are no torrents yet, or none is approved.',
  },
  {
    name: 'Jackett',
    place: 'the settings of a feed indexer',
    fields: [
      ['URL', '{url}/api'],
      ['API Key', '{key}'],
    ],
    path: '/api',
    test: testJackett,
    nothing: 'There are no torrents yet, or none is approved.',
  },
  {
    name: 'cross-seed',
    place: 'config.js, one line of torznab',
    fields: [['torznab', '{url}/api?apikey={key}']],
    path: '/api',
    test: testCrossSeed,
    nothing: 'There are no torrents yet, or none is approved.',
  },
  {
    name: 'autobrr',
    place: 'Settings, Feeds, Torznab',
    fields: [
      ['URL', '{url}'],
      ['API Key', '{key}'],
    ],
    path: '',
    test: testAutobrr,
    nothing: 'There are no torrents yet, or none is approved.',
  },
]
