import { testAutobrr } from '../../web/src/admin/torznab/tools/autobrr.ts'
import { testCrossSeed } from '../../web/src/admin/torznab/tools/cross-seed.ts'
import { testJackett } from '../../web/src/admin/torznab/tools/jackett.ts'
import { testProwlarr } from '../../web/src/admin/torznab/tools/prowlarr.ts'
import { testRadarr } from '../../web/src/admin/torznab/tools/radarr.ts'
import { testSonarr } from '../../web/src/admin/torznab/tools/sonarr.ts'
import type { Indexer } from '../../web/src/admin/torznab/tools/tool.ts'
import { searchFlexGet } from './flexget.ts'
import { testLidarr } from './lidarr.ts'
import { testReadarr } from './readarr.ts'

/** The test of each tool: what it does when a user adds the indexer and presses Test, or its like. */
const TESTS: Readonly<Record<string, (indexer: Indexer) => Promise<unknown>>> = {
  Sonarr: testSonarr,
  Radarr: testRadarr,
  Lidarr: testLidarr,
  Readarr: testReadarr,
  Prowlarr: testProwlarr,
  Jackett: testJackett,
  'cross-seed': testCrossSeed,
  autobrr: testAutobrr,
  FlexGet: (indexer) => searchFlexGet(indexer, 'movie', { title: 'Quiet Film', parameters: { imdbid: 'tt0133093' } }),
}

export const TOOLS: readonly string[] = Object.keys(TESTS)

/** Runs the test of a tool. @throws ToolError as the user sees it */
export async function testWith(tool: string, indexer: Indexer): Promise<unknown> {
  const test = TESTS[tool]
  if (test === undefined) throw new Error(`There is no tool ${tool}`)
  return test(indexer)
}
