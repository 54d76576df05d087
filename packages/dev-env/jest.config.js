import base from '../../jest.config.base.js'

export default {
  ...base,
  // Starting servers is quick, except on a machine that does much else at the same time.
  testTimeout: 60_000,
  globalSetup: '<rootDir>/../../packages/dev-env/src/jest/global-setup.ts',
  globalTeardown: '<rootDir>/../../packages/dev-env/src/jest/global-teardown.ts',
}
