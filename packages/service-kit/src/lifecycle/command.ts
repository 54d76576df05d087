import { existsSync, realpathSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { CommanderError, Option, Command as Program } from 'commander'
import { z } from 'zod'
import { EnvError } from '../config/env.ts'
import { ApiError, messageOf } from '../core/errors.ts'

/** The parts of a process that a command uses. Tests inject their own. */
export type Terminal = {
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly stdin: Readable
  readonly stdout: { write(text: string): unknown }
  readonly stderr: { write(text: string): unknown }
}

/** One action of a command, created by `defineAction`. */
export type Action = {
  readonly summary: string
  readonly inputs: Readonly<z.ZodRawShape>
  readonly run: (input: Readonly<Record<string, unknown>>, terminal: Terminal) => Promise<number>
}

/** A command that an operator runs. */
export type Command = {
  readonly name: string
  /** Actions by the name of their subcommand, or the only action of a command without subcommands. */
  readonly actions: Readonly<Record<string, Action>> | Action
  /** Printed after the usage. */
  readonly notes?: string
  /** Exit status for errors other than incorrect usage; 1 by default. */
  readonly exitStatus?: (error: unknown) => number
}

/** Incorrect usage. The message is printed with the usage, and the exit status is 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** An input given by its position, for example `ID`. */
export function operand<Schema extends z.ZodType>(placeholder: string, schema: Schema): Schema {
  return schema.meta({ operand: placeholder })
}

/** An input given as `--name VALUE`; the description of the schema is its help text. */
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
 * @param definition `inputs` by name, each created by `operand`, `option` or `flag`, or `z.literal(true)` for a required
 *   flag. `run` gets the validated inputs and can return an exit status other than 0
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
      const problems = result.error.issues.map(({ path: [name = ''], message }) => {
        const label = placeholder(inputs[String(name)], 'operand') ?? `--${String(name)}`
        return `${label} ${message}`
      })
      throw new UsageError(problems.join('\n'))
    },
  }
}

/**
 * Runs a command: parses the arguments, runs the action, prints errors.
 *
 * @returns the exit status: 0 or what the action returned; 2 for incorrect usage; for any other error the `exitStatus` of
 *   the command
 */
export async function runCommand({ name, actions, notes, exitStatus }: Command, terminal: Terminal): Promise<number> {
  let status = 0
  const program = new Program(name)
    .exitOverride()
    .showHelpAfterError()
    .configureOutput({
      writeOut: (text) => terminal.stdout.write(text),
      writeErr: (text) => terminal.stderr.write(text),
    })
    .addHelpText('after', notes === undefined ? '' : `\n${notes}`)
  let selected = program
  const define = (target: Program, action: Action): void => {
    const operands: string[] = []
    target.description(action.summary)
    for (const [input, schema] of Object.entries(action.inputs)) {
      const operandName = placeholder(schema, 'operand')
      const value = placeholder(schema, 'value')
      const isRequired = !z.safeParse(schema, undefined).success
      if (operandName !== undefined) {
        operands.push(input)
        target.argument(isRequired ? `<${operandName}>` : `[${operandName}]`)
      } else {
        const flags = value === undefined ? `--${input}` : `--${input} <${value}>`
        target.addOption(new Option(flags, z.globalRegistry.get(schema)?.description).makeOptionMandatory(isRequired))
      }
    }
    target.action(async () => {
      selected = target
      const values: Readonly<Record<string, unknown>> = target.opts()
      const options = target.options.map((each) => [each.name(), values[each.attributeName()]])
      const positions = operands.map((input, i) => [input, target.args[i]])
      status = await action.run(Object.fromEntries([...options, ...positions]) as Record<string, unknown>, terminal)
    })
  }
  if (isAction(actions)) define(program, actions)
  else for (const [word, action] of Object.entries(actions)) define(program.command(word), action)
  try {
    await program.parseAsync(terminal.args, { from: 'user' })
    return status
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    const isUsage = error instanceof UsageError
    const isComplete = isUsage || error instanceof EnvError || error instanceof ApiError
    terminal.stderr.write(`${isComplete ? '' : `${name}: `}${messageOf(error)}\n`)
    if (isUsage) terminal.stderr.write(`\n${selected.helpInformation()}`)
    return isUsage ? 2 : (exitStatus?.(error) ?? 1)
  }
}

/** Runs a command if its module is the one that Node was started with. */
export async function runIfMain(meta: ImportMeta, command: Command): Promise<void> {
  const script = process.argv[1]
  // The script may be a symbolic link to the module.
  if (script === undefined || !existsSync(script) || realpathSync(script) !== meta.filename) return
  const { argv, env, stdin, stdout, stderr } = process
  process.exitCode = await runCommand(command, { args: argv.slice(2), env, stdin, stdout, stderr })
}

function isAction(actions: Command['actions']): actions is Action {
  return typeof actions['run'] === 'function'
}

function placeholder(input: z.core.$ZodType | undefined, kind: 'operand' | 'value'): string | undefined {
  const text = input === undefined ? undefined : z.globalRegistry.get(input)?.[kind]
  return typeof text === 'string' ? text : undefined
}
