import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, test } from '@jest/globals'
import { type CommandOutcome, captureCommand, sourceArguments } from '@vault-and-tracker/dev-env'
import { z } from 'zod'
import { EnvError } from '../src/config/env.ts'
import { ApiError } from '../src/core/errors.ts'
import { type Command, defineAction, flag, operand, option, runCommand, UsageError } from '../src/lifecycle/command.ts'

const failures: Record<string, Error> = {
  api: new ApiError('CONFLICT', 'This name is taken.'),
  env: new EnvError(['PORT: is required and not set']),
  other: new Error('connection refused'),
  aggregate: new AggregateError([new Error('no IPv4'), new Error('no IPv6')], ''),
  silent: new Error(''),
}

const keys: Command = {
  name: 'keys',
  actions: {
    add: defineAction({
      summary: 'Adds a key.',
      inputs: {
        id: operand('ID', z.string()),
        days: option('DAYS', z.string().regex(/^\d+$/, 'takes a number of days').transform(Number).default(365)),
        'from-stdin': flag(),
      },
      run: async ({ id, days, 'from-stdin': fromStdin }, { stdin, stdout, env }) => {
        const material = fromStdin ? await text(stdin) : 'random'
        stdout.write(JSON.stringify({ id, days, material, home: env['HOME'] }))
      },
    }),
    list: defineAction({
      summary: 'Lists keys.',
      inputs: { role: option('active|old', z.enum(['active', 'old'], 'must be active or old')) },
      run: ({ role }) => Promise.resolve(role === 'old' ? 7 : undefined),
    }),
    fail: defineAction({
      summary: 'Fails.',
      inputs: { how: operand('HOW', z.string()) },
      run: ({ how }) => {
        throw failures[how] ?? new UsageError('the password is too short')
      },
    }),
  },
  notes: 'Each step may be run again.',
}

function run(args: readonly string[], command = keys, stdin = ''): Promise<CommandOutcome> {
  return captureCommand((terminal) => runCommand(command, terminal), { args, env: { HOME: '/home' }, stdin })
}

test.each([['--help'], ['-h']])('%s prints the subcommands and the notes', async (...args) => {
  const { status, stdout, stderr } = await run(args)
  expect([status, stderr]).toEqual([0, ''])
  for (const text of ['Usage: keys', 'add', 'list', 'fail', 'Each step may be run again.'])
    expect(stdout).toContain(text)
})

test('the help of a subcommand has its operands and options', async () => {
  const { status, stdout } = await run(['add', '--help'])
  expect(status).toBe(0)
  for (const text of ['<ID>', '--days <DAYS>', '--from-stdin']) expect(stdout).toContain(text)
})

test('the action gets validated operands and options in any order', async () => {
  const expected = JSON.stringify({ id: 'k1', days: 30, material: 'random', home: '/home' })
  expect(await run(['add', 'k1', '--days', '30'])).toEqual({ status: 0, stdout: expected, stderr: '' })
  expect(await run(['add', '--days=30', 'k1'])).toMatchObject({ stdout: expected })
})

test('a missing input has its default, and the action can read standard input', async () => {
  const { stdout } = await run(['add', 'k1', '--from-stdin'], keys, 'material')
  expect(JSON.parse(stdout)).toEqual({ id: 'k1', days: 365, material: 'material', home: '/home' })
})

test('the exit status is the result of the action', async () => {
  expect(await run(['list', '--role', 'old'])).toEqual({ status: 7, stdout: '', stderr: '' })
})

test.each([
  [[], 'Usage: keys'],
  [['dance'], 'dance'],
  [['toString'], 'toString'],
  [['add'], 'ID'],
  [['list'], '--role'],
  [['list', '--role', 'none'], '--role must be active or old'],
  [['add', 'k1', '--days', 'x'], '--days takes a number of days'],
  [['add', 'k1', 'k2'], 'too many arguments'],
  [['add', 'k1', '--role', 'old'], '--role'],
  [['add', 'k1', '--nonsense'], '--nonsense'],
  [['fail', 'usage'], 'the password is too short'],
])('%j is incorrect usage', async (args, message) => {
  const outcome = await run(args)
  expect(outcome).toMatchObject({ status: 2, stdout: '', stderr: expect.stringContaining(message) })
})

test.each([
  ['api', 'This name is taken.\n'],
  ['env', 'The configuration has 1 problem(s):\n  - PORT: is required and not set\n'],
  ['other', 'keys: connection refused\n'],
  ['aggregate', 'keys: no IPv4; no IPv6\n'],
  ['silent', 'keys: Error\n'],
])('a failure (%s) has exit status 1 and prints the reason', async (how, stderr) => {
  expect(await run(['fail', how])).toEqual({ status: 1, stdout: '', stderr })
})

test('a command chooses the exit status of its failures, but not of incorrect usage', async () => {
  const strict: Command = { ...keys, exitStatus: (error) => (error instanceof ApiError ? 3 : 4) }
  const outcomes = await Promise.all([run(['fail', 'api'], strict), run(['fail', 'other'], strict), run([], strict)])
  expect(outcomes.map(({ status }) => status)).toEqual([3, 4, 2])
})

test('a command with one action has no subcommands', async () => {
  const migrate: Command = {
    name: 'migrate',
    actions: defineAction({
      summary: 'Migrates.',
      inputs: { dry: flag() },
      run: ({ dry }, { stdout }) => {
        stdout.write(dry ? 'would migrate' : 'migrated')
        return Promise.resolve(undefined)
      },
    }),
  }
  expect(await run([], migrate)).toEqual({ status: 0, stdout: 'migrated', stderr: '' })
  expect(await run(['--dry'], migrate)).toMatchObject({ stdout: 'would migrate' })
  expect((await run(['now'], migrate)).status).toBe(2)
  expect((await run(['--help'], migrate)).stdout).toContain('--dry')
})

test('a module runs as a program if Node was started with it or a link to it, and not if it is imported', () => {
  const program = join(import.meta.dirname, 'fixtures/command.ts')
  const folder = mkdtempSync(join(tmpdir(), 'command-'))
  const link = join(folder, 'link.ts')
  symlinkSync(program, link)
  const node = (...args: string[]) => execFileSync(process.execPath, args, { encoding: 'utf8' })
  const [, loader = ''] = sourceArguments(program)
  expect(node('--import', loader, program, 'world')).toBe('hello world\n')
  expect(node('--import', loader, link, 'world')).toBe('hello world\n')
  expect(
    node('--import', loader, '--input-type=module', '--eval', `await import(${JSON.stringify(program)})`, 'world'),
  ).toBe('')
  rmSync(folder, { recursive: true })
})

test('a flag can be required', async () => {
  const command: Command = {
    name: 'create',
    actions: defineAction({ summary: 'Creates.', inputs: { stdin: z.literal(true) }, run: () => Promise.resolve(0) }),
  }
  expect((await run(['--stdin'], command)).status).toBe(0)
  expect(await run([], command)).toMatchObject({ status: 2, stderr: expect.stringContaining('--stdin') })
})
