import base from '../../jest.config.base.js'

export default {
  ...base,
  testMatch: [...base.testMatch, '<rootDir>/web/tests/**/*.test.ts', '<rootDir>/web/src/**/*.test.ts'],
  globalSetup: '<rootDir>/../../packages/dev-env/src/jest/global-setup.ts',
  globalTeardown: '<rootDir>/../../packages/dev-env/src/jest/global-teardown.ts',
}
