// What the tests of all packages and services have in common: native ESM, TypeScript stripped by swc, and workspace packages
// resolved to their sources. `pnpm types` checks the types.
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
  testMatch: ['<rootDir>/src/**/*.test.ts', '<rootDir>/tests/**/*.test.ts', '<rootDir>/web/{src,tests}/**/*.test.ts'],
  // Tests that take long, or starve others, run every night: with TRIALS (see CONTRIBUTING.md).
  testPathIgnorePatterns: ['/node_modules/', ...(process.env.TRIALS ? [] : ['/tests/trials/'])],
  // Only for tests that hang: much longer than any machine needs, however busy it is.
  testTimeout: 180_000,
}

export default base

/** For packages and services whose tests need Postgres and Redis: both start before the tests and stop after them. */
export const withServers = {
  ...base,
  globalSetup: '<rootDir>/../../packages/dev-env/src/jest/global-setup.ts',
  globalTeardown: '<rootDir>/../../packages/dev-env/src/jest/global-teardown.ts',
}
