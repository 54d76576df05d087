import { expect, test } from '@jest/globals'
import { UnavailableError } from '../core/errors.ts'
import { createLogger, type Logger } from './logger.ts'

type Line = Readonly<Record<string, unknown>>

function logInto(lines: Line[]): Logger {
  const destination = { write: (text: string) => void lines.push(JSON.parse(text) as Line) }
  return createLogger({ name: 'test', level: 'debug', destination })
}

const refused = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:5432'), { code: 'ECONNREFUSED' })
const redis = new UnavailableError('redis', { cause: new Error('Command timed out') })

/** Waits for a line more. */
async function nextOf(lines: Line[]): Promise<Line> {
  const before = lines.length
  while (lines.length === before) await new Promise((resolve) => setTimeout(resolve, 20))
  return lines[before] ?? {}
}

test('writes the first line about an outage and counts the others every second', async () => {
  const lines: Line[] = []
  const logger = logInto(lines)
  for (let i = 0; i < 600; i++) logger.warn({ err: refused, method: 'GET' }, 'dependency unavailable')
  for (let i = 0; i < 399; i++) logger.child({ part: 1 }).error({ err: redis }, 'could not count')
  expect(lines).toHaveLength(1)
  expect(lines[0]).toMatchObject({ msg: 'dependency unavailable', method: 'GET', err: { code: 'ECONNREFUSED' } })
  expect(await nextOf(lines)).toMatchObject({
    level: 40,
    count: 998,
    messages: { 'dependency unavailable': 599, 'could not count': 399 },
    reasons: { 'connect ECONNREFUSED 127.0.0.1:5432': 599, 'redis is unavailable: Command timed out': 399 },
  })
  expect(JSON.stringify(lines[1])).not.toContain('stack')
})

test('the number of messages and reasons is bounded', async () => {
  const lines: Line[] = []
  const logger = logInto(lines)
  for (let i = 0; i <= 100; i++) logger.warn({ err: refused }, `kind ${String(i)}`)
  const { messages } = (await nextOf(lines)) as { messages: Record<string, number> }
  expect(Object.keys(messages)).toHaveLength(21)
  expect(messages['others']).toBe(80)
})

test('other lines are written unchanged in between', () => {
  const lines: Line[] = []
  const logger = logInto(lines)
  logger.warn({ err: refused }, 'first')
  logger.warn({ err: refused }, 'second')
  logger.error({ err: new Error('a fault') }, 'request failed')
  logger.warn({ port: 1 }, 'listening')
  logger.info({ err: refused }, 'told')
  logger.fatal({ err: refused }, 'could not start')
  expect(lines.map(({ msg }) => msg)).toEqual(['first', 'request failed', 'listening', 'told', 'could not start'])
})
