import { withServers } from '../../jest.config.base.js'

export default withServers
