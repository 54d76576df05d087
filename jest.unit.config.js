// `pnpm test:unit`: the tests next to their sources, and all tests of packages that need no server, in one short run.
import { readdirSync } from 'node:fs'
import base from './jest.config.base.js'

const WITH_SERVERS = ['packages/dev-env', 'packages/service-kit', 'services/tracker', 'services/vault']
const folders = ['packages', 'services'].flatMap((group) => readdirSync(group).map((name) => `${group}/${name}`))

export default {
  ...base,
  testMatch: folders.flatMap((folder) => [
    `<rootDir>/${folder}/src/**/*.test.ts`,
    ...(WITH_SERVERS.includes(folder) ? [] : [`<rootDir>/${folder}/tests/**/*.test.ts`]),
  ]),
  // Fuzzing takes longer than everything else together.
  testPathIgnorePatterns: [...base.testPathIgnorePatterns, '/tests/fuzz\\.test\\.ts$'],
}
