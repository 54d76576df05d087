import base from '../../jest.config.base.js'

export default {
  ...base,
  globalSetup: '<rootDir>/../../packages/dev-env/src/jest/global-setup.ts',
  globalTeardown: '<rootDir>/../../packages/dev-env/src/jest/global-teardown.ts',
  // Much of the time is waiting for processes that start, freeze and stop.
  maxWorkers: 2,
  // Commands and services run as processes of their own here, on machines that do other things meanwhile.
  testTimeout: 60_000,
}
