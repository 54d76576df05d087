import base from '../../jest.config.base.js'

export default {
  ...base,
  globalSetup: '<rootDir>/../../packages/dev-env/src/jest/global-setup.ts',
  globalTeardown: '<rootDir>/../../packages/dev-env/src/jest/global-teardown.ts',
}
