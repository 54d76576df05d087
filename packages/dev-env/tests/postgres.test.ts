import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from '@jest/globals'
import { freePort, removeTemporaryFolder, startPostgres, temporaryFolder } from '@vault-and-tracker/dev-env'
import pg from 'pg'
import { query } from './query.ts'

const folder = temporaryFolder('postgres-test')
afterAll(() => removeTemporaryFolder(folder))

describe('startPostgres', () => {
  it('keeps its data, password and port from one start to the next', async () => {
    const options = { dataDir: join(folder, 'kept'), port: await freePort(), durable: true }
    const first = await startPostgres(options)
    await query(first.url, "create table kept as select 'yes' as value")
    expect(await first.stop()).toEqual({ code: 0, signal: null })
    const second = await startPostgres(options)
    expect(second.url).toBe(first.url)
    expect(await query(second.url, 'select value from kept')).toEqual([{ value: 'yes' }])
    await second.stop()
  })

  it('recovers from a power failure under the same handle', async () => {
    const postgres = await startPostgres({ dataDir: join(folder, 'crash'), durable: true })
    await query(postgres.url, "create table kept as select 'yes' as value")
    expect(await postgres.kill()).toEqual({ code: null, signal: 'SIGKILL' })
    expect(postgres.isRunning()).toBe(false)
    await postgres.restart()
    expect(await query(postgres.url, 'select value from kept')).toEqual([{ value: 'yes' }])
    await postgres.stop()
  })

  it('starts although another process has the pid of its last one', async () => {
    const dataDir = join(folder, 'crash')
    const lock = join(dataDir, 'cluster', 'postmaster.pid')
    writeFileSync(lock, `${process.ppid}\n${join(dataDir, 'cluster')}\n1\n1\n\n127.0.0.1\n1 1\n`)
    const postgres = await startPostgres({ dataDir, durable: true })
    expect(await query(postgres.url, 'select value from kept')).toEqual([{ value: 'yes' }])
    await postgres.stop()
  })

  it('can be paused with open connections, and continues', async () => {
    const postgres = await startPostgres({ dataDir: join(folder, 'frozen'), durable: false })
    const client = new pg.Client({ connectionString: postgres.url })
    await client.connect()
    postgres.pause()
    const answer = client.query('select 1')
    const first = await Promise.race([answer, new Promise((resolve) => setTimeout(resolve, 300, 'silence'))])
    expect(first).toBe('silence')
    postgres.resume()
    expect((await answer).rowCount).toBe(1)
    await client.end()
    await postgres.stop()
  })

  it('stops although it is paused', async () => {
    const postgres = await startPostgres({ dataDir: join(folder, 'frozen'), durable: false })
    postgres.pause()
    expect(await postgres.stop()).toEqual({ code: 0, signal: null })
  })

  it('reports that another program uses the port', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const address = other.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    await expect(startPostgres({ dataDir: join(folder, 'taken'), port, durable: false })).rejects.toThrow(
      /could not bind.*Address already in use/,
    )
    other.close()
  })

  it('reports only an end that was not requested', async () => {
    const postgres = await startPostgres({ dataDir: join(folder, 'frozen'), durable: false })
    const reports: unknown[] = []
    postgres.onUnexpectedExit((exit) => void reports.push(exit.signal))
    await postgres.restart()
    expect(reports).toEqual([])
    process.kill(postgres.pid, 'SIGKILL')
    while (postgres.isRunning()) await new Promise((resolve) => setTimeout(resolve, 20))
    expect(reports).toEqual(['SIGKILL'])
  })
})
