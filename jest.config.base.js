// One jest configuration for every package and service: native ESM, TypeScript stripped by swc,
// workspace packages resolved to their sources. Type checking is `pnpm types`, not the tests' work.
const swc = (parser, transform) => [
  '@swc/jest',
  { jsc: { parser, target: 'es2022', transform }, module: { type: 'es6' } },
]

const base = {
  testEnvironment: 'node',
  testEnvironmentOptions: { customExportConditions: ['source', 'node', 'node-addons'] },
  extensionsToTreatAsEsm: ['.ts', '.tsx'],
  transform: {
    '^.+\\.ts$': swc({ syntax: 'typescript' }, {}),
    '^.+\\.tsx$': swc({ syntax: 'typescript', tsx: true }, { react: { runtime: 'automatic' } }),
  },
  testMatch: ['<rootDir>/src/**/*.test.ts', '<rootDir>/tests/**/*.test.ts'],
  // Only for what hangs: it has to be far from what any machine needs, however busy.
  testTimeout: 180_000,
  workerIdleMemoryLimit: '1GB',
}

export default base

/** For packages and services whose tests need Postgres and Redis: both start before the tests and stop after them. */
export const withServers = {
  ...base,
  globalSetup: '<rootDir>/../../packages/dev-env/src/jest/global-setup.ts',
  globalTeardown: '<rootDir>/../../packages/dev-env/src/jest/global-teardown.ts',
  // Much of the time is waiting for servers and processes that start, freeze and stop.
  maxWorkers: 2,
}
