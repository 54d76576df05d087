import { withServers } from '../../jest.config.base.js'

export default {
  ...withServers,
  // Much of the time is waiting for processes that start, freeze and stop.
  maxWorkers: 2,
}
