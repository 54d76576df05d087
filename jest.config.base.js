// One jest configuration for every package and service: native ESM, TypeScript stripped by swc,
// workspace packages resolved to their sources. Type checking is `pnpm types`, not the tests' work.
export default {
  testEnvironment: 'node',
  testEnvironmentOptions: { customExportConditions: ['source', 'node', 'node-addons'] },
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      { jsc: { parser: { syntax: 'typescript' }, target: 'es2022' }, module: { type: 'es6' } },
    ],
  },
  testMatch: ['<rootDir>/src/**/*.test.ts', '<rootDir>/tests/**/*.test.ts'],
  // Only for what hangs: it has to be far from what any machine needs, however busy.
  testTimeout: 180_000,
  workerIdleMemoryLimit: '1GB',
}
