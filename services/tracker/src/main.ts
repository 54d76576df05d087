import { configOrExit } from '@vault-and-tracker/service-kit/config/env'
import { systemClock } from '@vault-and-tracker/service-kit/core/clock'
import { listen } from '@vault-and-tracker/service-kit/http/server'
import { run, type Scope } from '@vault-and-tracker/service-kit/lifecycle/run'
import { createLogger } from '@vault-and-tracker/service-kit/log/logger'
import { createHttpServer } from './app.ts'
import { readConfig } from './config.ts'
import { createContext } from './context.ts'
import { isWorker, othersAccept, startWorkers } from './workers.ts'

const config = configOrExit(readConfig)
const logger = createLogger({ name: 'tracker', level: config.LOG_LEVEL })

async function start(scope: Scope): Promise<void> {
  if (config.TRACKER_WORKERS > 1 && !isWorker()) {
    await startWorkers(scope, config.TRACKER_WORKERS, logger)
    return
  }
  const context = await createContext({ config, logger, clock: systemClock })
  scope.defer('connections', () => context.close())
  await context.announceSetup()
  scope.defer('background tasks', () => context.background.stop())
  context.background.start()
  const { server, front } = createHttpServer(context, { logger, stopping: scope.signal })
  const running = await listen(server, { host: config.HOST, port: config.PORT }, { front, othersAccept })
  scope.defer('HTTP server', async () => {
    context.useCases.eventStreams.drain()
    await Promise.all([running.drain(), context.sockets?.drain()])
  })
  if (context.irc !== undefined) {
    scope.defer('IRC listener', () => context.irc?.drain())
    await context.irc.listen(config.HOST, config.IRC_PORT)
  }
  logger.info({ port: running.port, url: config.PUBLIC_URL, mode: config.TRACKER_MODE }, 'listening')
}

// A terminal signals all processes at once, and then the primary process signals its workers.
await run(logger, start, { ignoresSecondSignal: isWorker() })
