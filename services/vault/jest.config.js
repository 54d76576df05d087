import base from '../../jest.config.base.js'

export default {
  ...base,
  globalSetup: '<rootDir>/../../packages/dev-env/src/jest/global-setup.ts',
  globalTeardown: '<rootDir>/../../packages/dev-env/src/jest/global-teardown.ts',
  // Commands and services run as processes of their own here, on machines that do other things meanwhile.
  testTimeout: 60_000,
}
