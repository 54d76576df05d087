import { existsSync, realpathSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { parseArgs } from 'node:util'
import { z } from 'zod'
import { EnvError } from './env.ts'
import { ApiError, errorCode, messageOf } from './errors.ts'

/** What a command uses of the process it runs in. Tests inject their own. */
export type Terminal = {
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly stdin: Readable
  readonly stdout: { write(text: string): unknown }
  readonly stderr: { write(text: string): unknown }
}

/** One action of a command, as `defineAction` makes it. */
export type Action = {
  readonly summary: string
  readonly inputs: Readonly<z.ZodRawShape>
  readonly run: (input: Readonly<Record<string, unknown>>, terminal: Terminal) => Promise<number>
}

/** A command that an operator runs. */
export type Command = {
  readonly name: string
  /** Actions by the word that selects them, or the only action of a command without such a word. */
  readonly actions: Readonly<Record<string, Action>> | Action
  /** Printed after the usage. */
  readonly notes?: string
  /** Exit status of an error that is not wrong usage; 1 for every error by default. */
  readonly exitStatus?: (error: unknown) => number
}

/** Wrong usage. The message is printed with the usage, and the exit status is 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** An input given by its position, for example `ID`. */
export function operand<Schema extends z.ZodType>(placeholder: string, schema: Schema): Schema {
  return schema.meta({ operand: placeholder })
}

/** An input given as `--name VALUE`. */
export function option<Schema extends z.ZodType>(placeholder: string, schema: Schema): Schema {
  return schema.meta({ value: placeholder })
}

/** An input given as `--name` or left out. */
export function flag() {
  return z.boolean().default(false)
}

/**
 * Defines an action.
 *
 * @param definition `inputs` by name, each made by `operand`, `option` or `flag`, or `z.literal(true)` for a flag that
 *   must be given. Operands stand in their order, and an option has the same kind in all actions of a command. `run`
 *   gets the validated inputs, writes its result to `terminal.stdout`, and may return an exit status other than 0.
 */
export function defineAction<Shape extends z.ZodRawShape>(definition: {
  summary: string
  inputs: Shape
  run: (input: z.output<z.ZodObject<Shape>>, terminal: Terminal) => Promise<number | undefined>
}): Action {
  const { summary, inputs, run } = definition
  const schema = z.object(inputs)
  return {
    summary,
    inputs,
    run: async (input, terminal) => {
      const result = schema.safeParse(input, { reportInput: false })
      if (result.success) return (await run(result.data, terminal)) ?? 0
      const problems = result.error.issues.map(({ path: [name], message }) => {
        const label = labelOf(inputs, String(name))
        return `${label} ${input[String(name)] === undefined ? 'is required' : message}`
      })
      throw new UsageError(problems.join('\n'))
    },
  }
}

/**
 * Runs a command: parses the arguments, runs the selected action, prints what went wrong.
 *
 * @returns the exit status: 0 or what the action returned; 2 for wrong usage, which prints the usage; for every other
 *   error what `exitStatus` of the command says, else 1
 */
export async function runCommand(command: Command, terminal: Terminal): Promise<number> {
  try {
    const selected = select(command, terminal.args)
    if (selected !== 'help') return await selected.action.run(selected.input, terminal)
    terminal.stdout.write(usageOf(command))
    return 0
  } catch (error) {
    const isUsage = error instanceof UsageError || errorCode(error)?.startsWith('ERR_PARSE_ARGS') === true
    const isComplete = isUsage || error instanceof EnvError || error instanceof ApiError
    terminal.stderr.write(`${isComplete ? '' : `${command.name}: `}${messageOf(error)}\n`)
    if (isUsage) terminal.stderr.write(`\n${usageOf(command)}`)
    return isUsage ? 2 : (command.exitStatus?.(error) ?? 1)
  }
}

/** Runs a command as the program of this process, if its module is the one that Node was started with. */
export async function runIfMain(meta: ImportMeta, command: Command): Promise<void> {
  if (!isMain(meta)) return
  const { argv, env, stdin, stdout, stderr } = process
  process.exitCode = await runCommand(command, { args: argv.slice(2), env, stdin, stdout, stderr })
}

/**
 * Whether a module is the one that Node was started with, through whatever symbolic link.
 *
 * @param meta `import.meta` of the module
 */
export function isMain(meta: ImportMeta): boolean {
  const script = process.argv[1]
  return script !== undefined && existsSync(script) && realpathSync(script) === meta.filename
}

type Selected = { readonly action: Action; readonly input: Readonly<Record<string, unknown>> }

function select(command: Command, args: readonly string[]): Selected | 'help' {
  const { actions } = command
  const all = isAction(actions) ? [actions] : Object.values(actions)
  const options = Object.fromEntries(
    all
      .flatMap(({ inputs }) => Object.entries(inputs))
      .filter(([, input]) => placeholder(input, 'operand') === undefined)
      .map(([name, input]) => [
        name,
        { type: placeholder(input, 'value') === undefined ? 'boolean' : 'string' } as const,
      ]),
  )
  const { positionals, values } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { ...options, help: { type: 'boolean', short: 'h' } },
  })
  if (values['help'] === true) return 'help'
  const [action, given] = isAction(actions)
    ? [actions, positionals]
    : [pick(actions, positionals), positionals.slice(1)]
  return { action, input: { ...ownOptions(action, values), ...operands(action, given) } }
}

function isAction(actions: Command['actions']): actions is Action {
  return typeof actions['run'] === 'function'
}

function pick(actions: Readonly<Record<string, Action>>, [word]: readonly string[]): Action {
  if (word === undefined) throw new UsageError('give a command')
  const action = Object.hasOwn(actions, word) ? actions[word] : undefined
  if (action === undefined) throw new UsageError('there is no such command')
  return action
}

/** The options of all actions are parsed together, so that they may stand before the word; here each finds its own. */
function ownOptions(action: Action, values: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const foreign = Object.keys(values).find((name) => !Object.hasOwn(action.inputs, name))
  if (foreign !== undefined) throw new UsageError(`--${foreign} is not an option of this command`)
  return values
}

function operands(action: Action, given: readonly string[]): Readonly<Record<string, string | undefined>> {
  const names = Object.keys(action.inputs).filter((name) => placeholder(action.inputs[name], 'operand') !== undefined)
  if (given.length > names.length) throw new UsageError(`unexpected argument: ${String(given[names.length])}`)
  return Object.fromEntries(names.map((name, i) => [name, given[i]]))
}

function usageOf(command: Command): string {
  const { name, actions, notes } = command
  const lines = isAction(actions)
    ? [`Usage: ${[name, ...inputsOf(actions)].join(' ')}`, '', `  ${actions.summary}`]
    : [
        `Usage: ${name} COMMAND`,
        ...Object.entries(actions).flatMap(([word, action]) => [
          '',
          `  ${[word, ...inputsOf(action)].join(' ')}`,
          `      ${action.summary}`,
        ]),
      ]
  return `${[...lines, ...(notes === undefined ? [] : ['', notes])].join('\n')}\n`
}

/** The inputs as the usage shows them, those that may be left out in brackets. */
function inputsOf({ inputs }: Action): readonly string[] {
  return Object.entries(inputs).map(([name, input]) => {
    const value = placeholder(input, 'value')
    const text = placeholder(input, 'operand') ?? (value === undefined ? `--${name}` : `--${name} ${value}`)
    return z.safeParse(input, undefined).success ? `[${text}]` : text
  })
}

function labelOf(inputs: Readonly<z.ZodRawShape>, name: string): string {
  return placeholder(inputs[name], 'operand') ?? `--${name}`
}

function placeholder(input: z.core.$ZodType | undefined, kind: 'operand' | 'value'): string | undefined {
  const text = input === undefined ? undefined : z.globalRegistry.get(input)?.[kind]
  return typeof text === 'string' ? text : undefined
}
