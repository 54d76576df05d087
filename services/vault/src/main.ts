import { createServer, type Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { systemClock } from 'service-kit/clock'
import { EnvError } from 'service-kit/env'
import { listen } from 'service-kit/http-server'
import { run } from 'service-kit/lifecycle'
import { createLogger } from 'service-kit/logger'
import { createApp } from './app.ts'
import { type Config, readConfig } from './config.ts'
import { createContext } from './context.ts'
import { presentRefusal, refusal } from './errors.ts'

/** The log has partitions for three months ahead: once a day is often enough, whatever may fail meanwhile. */
const PARTITIONS_MS = 86_400_000

const config = configOrExit()
const logger = createLogger({ name: 'vault', level: config.LOG_LEVEL })

await run(logger, async (scope) => {
  const context = await createContext(config, { logger, clock: systemClock })
  scope.defer('connections', () => context.close())
  scope.defer('audit sealer', () => context.sealer.stop())
  context.sealer.start()
  const partitions = setInterval(() => {
    context.audit.ensurePartitions().catch((err: unknown) => logger.warn({ err }, 'could not prepare the next months'))
  }, PARTITIONS_MS)
  scope.defer('audit partitions', () => clearInterval(partitions))
  const app = createApp(context, { logger, stopping: scope.signal })
  // Slow senders: 10 s for the headers, 30 s for all of a request. A missing Host is refused in our own words.
  const options = { headersTimeout: 10_000, requestTimeout: 30_000, requireHostHeader: false }
  const server = answerMalformed(createServer(options, app))
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

/** What is not HTTP never reaches the app; it is answered in the same shape. */
function answerMalformed(server: Server): Server {
  const { status, body } = presentRefusal(refusal('invalid_request', { message: 'this is not a request of HTTP/1.1' }))
  const text = JSON.stringify(body)
  const answer = [
    `HTTP/1.1 ${String(status)} Bad Request`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${String(text.length)}`,
    'Cache-Control: no-store',
    'Connection: close',
    '',
    text,
  ].join('\r\n')
  // Node would answer an expectation it does not know by itself, without a body; nothing obliges us to refuse it.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
  return server.on('clientError', (_error: Error, socket: Duplex) => {
    if (socket.writable) socket.end(answer)
    else socket.destroy()
  })
}
