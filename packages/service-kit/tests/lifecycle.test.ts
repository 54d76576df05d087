import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterEach, expect, test } from '@jest/globals'
import { sourceArguments } from '@vault-and-tracker/dev-env'

const FIXTURE = fileURLToPath(new URL('fixtures/service.ts', import.meta.url))

type Child = {
  process: ChildProcessWithoutNullStreams
  output: () => string
  port: () => Promise<number>
  exit: Promise<{ status: number | null; signal: NodeJS.Signals | null }>
}
const children: Child[] = []

afterEach(async () => {
  for (const child of children.splice(0)) {
    child.process.kill('SIGKILL')
    await child.exit
  }
})

function start(mode = ''): Child {
  const child = spawn(process.execPath, sourceArguments(FIXTURE), {
    env: { ...process.env, NODE_OPTIONS: '', MODE: mode },
  })
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const started: Child = {
    process: child,
    output: () => output,
    port: async () => {
      for (;;) {
        const found = /^port (\d+)$/m.exec(output)?.[1]
        if (found !== undefined) return Number(found)
        await once(child.stdout, 'data')
      }
    },
    exit: new Promise((resolve) => child.once('close', (status, signal) => resolve({ status, signal }))),
  }
  children.push(started)
  return started
}

test.each(['SIGTERM', 'SIGINT'] as const)(
  '%s releases everything in reverse order and exits with 0',
  async (signal) => {
    const child = start()
    await child.port()
    child.process.kill(signal)
    expect(await child.exit).toEqual({ status: 0, signal: null })
    expect(child.output()).toContain('released first')
  },
)

test('a request in progress is answered before the service exits', async () => {
  const child = start()
  const answer = fetch(`http://127.0.0.1:${String(await child.port())}/?ms=400`)
  setTimeout(() => child.process.kill('SIGTERM'), 100)
  expect(await (await answer).text()).toBe('done')
  expect(await child.exit).toEqual({ status: 0, signal: null })
})

test('a failed start exits with 1 and logs the reason', async () => {
  const child = start('fails-to-start')
  expect(await child.exit).toEqual({ status: 1, signal: null })
  expect(child.output()).toContain('no database')
})

test('a failed release exits with 1, and the other resources are still released', async () => {
  const child = start('fails-to-stop')
  await child.port()
  child.process.kill('SIGTERM')
  expect(await child.exit).toEqual({ status: 1, signal: null })
  expect(child.output()).toContain('cannot close')
  expect(child.output()).toContain('released first')
})

test('a second signal ends a hanging stop at once', async () => {
  const child = start('never-stops')
  await child.port()
  child.process.kill('SIGTERM')
  while (!child.output().includes('stopping')) await once(child.process.stdout, 'data')
  child.process.kill('SIGTERM')
  expect(await child.exit).toEqual({ status: 143, signal: null })
})

test('the deadline ends a hanging stop with status 1', async () => {
  const child = start('never-stops')
  await child.port()
  child.process.kill('SIGTERM')
  expect(await child.exit).toEqual({ status: 1, signal: null })
  expect(child.output()).toContain('did not stop in time')
})

test('an unhandled rejection stops the service gracefully with status 1', async () => {
  const child = start('rejects')
  expect(await child.exit).toEqual({ status: 1, signal: null })
  expect(child.output()).toContain('nobody listens')
  expect(child.output()).toContain('released first')
})
