import { configOrExit } from '@vault-and-tracker/service-kit/config/env'
import { systemClock } from '@vault-and-tracker/service-kit/core/clock'
import { listen } from '@vault-and-tracker/service-kit/http/server'
import { run } from '@vault-and-tracker/service-kit/lifecycle/run'
import { createLogger } from '@vault-and-tracker/service-kit/log/logger'
import { createHttpServer } from './app.ts'
import { readConfig } from './config.ts'
import { createContext } from './context.ts'

const config = configOrExit(readConfig)
const logger = createLogger({ name: 'vault', level: config.LOG_LEVEL })

await run(logger, async (scope) => {
  const context = await createContext({ config, logger, clock: systemClock })
  scope.defer('connections', () => context.close())
  scope.defer('background tasks', () => context.background.stop())
  context.background.start()
  const server = createHttpServer(context, { logger, stopping: scope.signal })
  const running = await listen(server, { host: config.HOST, port: config.PORT }, { unread: context.unread })
  scope.defer('HTTP server', () => running.drain())
  const { ids, activeId } = context.keyring
  logger.info({ port: running.port, console: '/console', keyring: ids, active: activeId }, 'listening')
})
