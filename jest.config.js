// The unit tests of everything, in one run that starts no server: those beside their sources, and all tests of the
// packages whose own configuration needs no servers.
import { existsSync, readdirSync } from 'node:fs'
import base from './jest.config.base.js'

const folders = ['packages', 'services'].flatMap((group) => readdirSync(group).map((name) => `${group}/${name}`))
const configs = await Promise.all(
  folders
    .filter((folder) => existsSync(`${folder}/jest.config.js`))
    .map(async (folder) => ({ folder, config: (await import(`./${folder}/jest.config.js`)).default })),
)

export default {
  ...base,
  roots: configs.map(({ folder }) => `<rootDir>/${folder}`),
  testMatch: configs.flatMap(({ folder, config }) => [
    `<rootDir>/${folder}/src/**/*.test.ts`,
    ...(config.globalSetup === undefined ? [`<rootDir>/${folder}/tests/**/*.test.ts`] : []),
  ]),
  // Not in the daily loop: fuzzing takes longer than everything else together, and the pack test installs packages.
  testPathIgnorePatterns: ['/node_modules/', '/tests/fuzz\\.test\\.ts$', '/vault-client/tests/pack\\.test\\.ts$'],
  maxWorkers: '100%',
}
