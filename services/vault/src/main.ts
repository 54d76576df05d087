import { systemClock } from '@vault-and-tracker/service-kit/clock'
import { EnvError } from '@vault-and-tracker/service-kit/env'
import { listen } from '@vault-and-tracker/service-kit/http-server'
import { run } from '@vault-and-tracker/service-kit/lifecycle'
import { createLogger } from '@vault-and-tracker/service-kit/logger'
import { createHttpServer } from './app.ts'
import { type Config, readConfig } from './config.ts'
import { createContext } from './context.ts'

/** The log has partitions for three months ahead: once a day is often enough, whatever may fail meanwhile. */
const PARTITIONS_MS = 86_400_000

const config = configOrExit()
const logger = createLogger({ name: 'vault', level: config.LOG_LEVEL })

await run(logger, async (scope) => {
  const context = await createContext({ config, logger, clock: systemClock })
  scope.defer('connections', () => context.close())
  scope.defer('audit sealer', () => context.sealer.stop())
  context.sealer.start()
  const partitions = setInterval(() => {
    context.useCases.audit
      .ensurePartitions()
      .catch((err: unknown) => logger.warn({ err }, 'could not prepare the next months'))
  }, PARTITIONS_MS)
  scope.defer('audit partitions', () => clearInterval(partitions))
  const server = createHttpServer(context, { logger, stopping: scope.signal })
  const running = await listen(server, { host: config.HOST, port: config.PORT })
  scope.defer('HTTP server', () => running.drain())
  logger.info(
    { port: running.port, keyring: [...config.keyring.keys.keys()], active: config.keyring.activeId },
    'listening',
  )
})

function configOrExit(): Config {
  try {
    return readConfig(process.env)
  } catch (error) {
    if (!(error instanceof EnvError)) throw error
    process.stderr.write(`${error.message}\n`)
    process.exit(1)
  }
}
