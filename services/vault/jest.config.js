import { withServers } from '../../jest.config.base.js'

export default {
  ...withServers,
  testMatch: [...withServers.testMatch, '<rootDir>/web/tests/**/*.test.ts', '<rootDir>/web/src/**/*.test.ts'],
}
