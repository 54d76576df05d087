import { testAutobrr } from './autobrr.ts'
import { testCrossSeed } from './cross-seed.ts'
import { searchFlexGet } from './flexget.ts'
import { testJackett } from './jackett.ts'
import { testLidarr } from './lidarr.ts'
import { testProwlarr } from './prowlarr.ts'
import { testRadarr } from './radarr.ts'
import { testSonarr } from './sonarr.ts'
import type { Indexer } from './tool.ts'

/** The test of each tool: its requests when a user adds the indexer and presses Test or a similar button. */
const TESTS: Readonly<Record<string, (indexer: Indexer) => Promise<unknown>>> = {
  Sonarr: testSonarr,
  Radarr: testRadarr,
  Lidarr: testLidarr,
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
