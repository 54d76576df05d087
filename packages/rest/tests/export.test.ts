import { once } from 'node:events'
import { createServer, get, type IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { ApiError } from '@vault-and-tracker/service-kit/core/errors'
import { listen } from '@vault-and-tracker/service-kit/http/server'
import { createUnreadAnswers, UNREAD_LIMITS } from '@vault-and-tracker/service-kit/http/unread-answers'
import { createLogger } from '@vault-and-tracker/service-kit/log/logger'
import express from 'express'
import { z } from 'zod'
import { createErrorHandler, EXPORT_FORMATS, EXPORT_TYPES, endpointsOf, exportFile, serve } from '../src/index.ts'

type Code = 'malformed' | 'internal'
type Site = { callers: { anyone: undefined }; limit: 'none'; code: Code }
type Row = { readonly id: number; readonly text: string }

const ERRORS = { malformed: { status: 400 }, internal: { status: 500 } } as const
const internal = (): ApiError<Code> => new ApiError<Code>('internal', 'Something went wrong.')

/** The rows that exist, and what each has in addition to its number. */
let count = 0
let text = ''
/** The reads so far. */
let reads = 0
/** Called with each read before it ends. */
let onRead: (read: number) => Promise<void> | undefined
let url: string
let running: Awaited<ReturnType<typeof listen>>
const server = createServer()

beforeAll(async () => {
  const endpoint = endpointsOf<Site, object>()({
    ...{ tag: 'rows', limit: 'none', access: 'anyone', method: 'GET', path: '/export', operationId: 'export' },
    summary: 'Export',
    query: z.object({ format: z.enum(EXPORT_FORMATS) }),
    answerTypes: EXPORT_TYPES,
    handle: ({ query: { format } }) =>
      exportFile({ name: 'rows', format, columns: ['id', 'text'] }, async (after: Row | undefined, limit) => {
        reads += 1
        await onRead(reads)
        const first = (after?.id ?? 0) + 1
        return Array.from({ length: Math.min(limit, count - first + 1) }, (_, i) => ({ id: first + i, text }))
      }),
  })
  const logger = createLogger({ name: 'test', level: 'silent' })
  const app = express()
  app.use(
    serve(
      [endpoint],
      {},
      {
        guards: { anyone: () => Promise.resolve(undefined) },
        readQuery: (request) => request.query,
        readBody: () => Promise.resolve({ body: undefined }),
        malformed: () => new ApiError<Code>('malformed', 'Malformed.'),
        notFound: internal,
        methodNotAllowed: internal,
        answersHead: true,
        guardsMethods: () => false,
      },
    ),
    createErrorHandler<Code>({
      table: ERRORS,
      present: ({ message }) => ({ body: { message } }),
      standard: {
        ...{ unavailable: internal, internal, malformedPath: internal, malformedBody: internal },
        ...{ bodyTooLarge: internal, bodyNotSupported: internal },
      },
      logger,
    }),
  )
  const unread = createUnreadAnswers({
    ...UNREAD_LIMITS,
    graceMs: 1_000,
    minBytesPerSecond: 1_000_000_000,
    sweepMs: 20,
  })
  server.on('request', app)
  running = await listen(server, { host: '127.0.0.1', port: 0 }, { unread })
  url = `http://127.0.0.1:${String(running.port)}/export?format=`
})
beforeEach(() => {
  reads = 0
  onRead = () => undefined
  text = 'a'
})
afterAll(() => running.drain())

const exported = async (format: string) => (await fetch(url + format)).text()
/** A request whose response is not read. */
async function unreadExport(): Promise<IncomingMessage> {
  const [response] = (await once(get(`${url}json`, { agent: false }), 'response')) as [IncomingMessage]
  return response.on('error', () => undefined)
}

const closed = (socket: Socket) =>
  new Promise<void>((resolve) => {
    if (socket.destroyed) resolve()
    else socket.once('close', () => resolve())
  })

test('rows of several reads are one document of at most 10,000', async () => {
  count = 600
  const rows = JSON.parse(await exported('json')) as Row[]
  expect([rows.length, rows.at(-1), reads]).toEqual([600, { id: 600, text: 'a' }, 3])
  text = '=a,"b"'
  const lines = (await exported('csv')).split('\r\n')
  expect([lines.length, lines[0], lines[251]]).toEqual([602, 'id,text', `251,"'=a,""b"""`])
  count = 20_000
  expect(JSON.parse(await exported('json'))).toHaveLength(10_000)
  count = 0
  expect([await exported('json'), await exported('csv')]).toEqual(['[]', 'id,text\r\n'])
})

test('an error of the first read is answered, and a later one cuts the document off', async () => {
  count = 600
  onRead = (read) => (read === 1 ? Promise.reject(internal()) : undefined)
  expect((await fetch(`${url}json`)).status).toBe(500)
  reads = 0
  onRead = (read) => (read === 3 ? Promise.reject(internal()) : undefined)
  const response = await fetch(`${url}json`)
  expect(response.status).toBe(200)
  await expect(response.text()).rejects.toThrow()
})

describe('a client that', () => {
  beforeEach(() => {
    count = 10_000
    // A read has 1 MB.
    text = 'x'.repeat(4_000)
  })

  test('reads nothing makes the server read little, and is disconnected', async () => {
    const connected = once(server, 'connection')
    await unreadExport()
    const [socket] = (await connected) as [Socket]
    await closed(socket)
    expect(reads).toBeLessThan(20)
  })

  test('reads slowly receives everything', async () => {
    const response = await unreadExport()
    let bytes = 0
    for await (const chunk of response) {
      const before = Math.floor(bytes / 4_000_000)
      bytes += (chunk as Buffer).length
      if (Math.floor(bytes / 4_000_000) > before) await new Promise((resolve) => setTimeout(resolve, 200))
    }
    expect([response.complete, reads]).toEqual([true, 40])
  })

  test.each([1, 2])('leaves during read %i ends the reading', async (last) => {
    let goOn: () => void = () => undefined
    const connected = once(server, 'connection')
    const waiting = new Promise<void>((reached) => {
      onRead = (read) =>
        read !== last
          ? undefined
          : new Promise((resolve) => {
              goOn = resolve
              reached()
            })
    })
    const asked = get(`${url}json`, { agent: false }).on('error', () => undefined)
    asked.on('response', (response) => response.on('error', () => undefined).resume())
    const [socket] = (await connected) as [Socket]
    await waiting
    asked.destroy()
    await closed(socket)
    goOn()
    await exported('json')
    expect(reads).toBe(last + 40)
  })

  test('leaves while the server waits for it ends the reading', async () => {
    const response = await unreadExport()
    response.destroy()
    await once(response, 'close')
    const before = reads
    await exported('json')
    expect(reads - before - 40).toBeLessThan(2)
  })
})
