import { Argument, type Command, Option } from 'commander'
import type { GlobalOptions } from '../settings.ts'
import { printable, type Terminal, UsageError } from '../terminal.ts'
import { collect, readEnvironment, readNames } from '../values.ts'
import { cell, done, print } from './admin.ts'
import { adminClient } from './client.ts'

const ENVIRONMENTS_HELP = `
An environment also receives the secrets of its parent. Its own take precedence.

Examples:
  $ vault admin environments set-parent shop production common
  $ vault admin environments set-parent shop production --none
`

const environment = (name: string, description: string): Argument =>
  new Argument(name, description).argParser((text: string) => readEnvironment(text, undefined))

const environmentCommands = {
  list: async (project: string, options: GlobalOptions, terminal: Terminal) =>
    print(
      await (await adminClient(options, terminal)).environments(project),
      ['env', 'parent', 'secrets'],
      options,
      terminal,
    ),

  setParent: async (
    { project, env, parent }: { project: string; env: string; parent: string | undefined },
    options: GlobalOptions & { none?: boolean },
    terminal: Terminal,
  ) => {
    if ((parent === undefined) !== (options.none === true)) throw new UsageError('use either a parent or --none')
    await (await adminClient(options, terminal)).setParent(project, env, parent ?? null)
    const place = `${printable(project)}/${printable(env)}`
    const text = parent === undefined ? 'inherits nothing' : `inherits from ${printable(parent)}`
    done(options, terminal, `${place} ${text}.`)
  },
}

/** Adds the commands for environments, and what they inherit. */
export function addEnvironments(admin: Command, terminal: Terminal): void {
  const environments = admin
    .command('environments')
    .description('Manage which environments of a project inherit from which')
    .addHelpText('after', ENVIRONMENTS_HELP)
  environments
    .command('list <project>', { isDefault: true })
    .description('List the environments of a project')
    .action((project: string, _options, command: Command) =>
      environmentCommands.list(project, command.optsWithGlobals(), terminal),
    )
  environments
    .command('set-parent <project>')
    .description('Set the environment from which an environment inherits')
    .addArgument(environment('<env>', 'Environment that inherits'))
    .addArgument(environment('[parent]', 'Environment from which it inherits'))
    .option('--none', 'Inherit nothing')
    .action((project: string, env: string, parent: string | undefined, _options, command: Command) =>
      environmentCommands.setParent({ project, env, parent }, command.optsWithGlobals(), terminal),
    )
}

const REFERENCES_HELP = `
A rule belongs to the project that is read. Values of the reader may then contain \${project.environment.KEY}.

Examples:
  $ vault admin references add database --reader shop --reader-envs production --envs main --key URL
  $ vault admin references remove database ID
`

type RuleOptions = GlobalOptions & {
  readonly reader: string
  readonly readerEnvs?: readonly string[]
  readonly envs?: readonly string[]
  readonly key?: readonly string[]
}

const referenceCommands = {
  list: async (project: string, options: GlobalOptions, terminal: Terminal) =>
    print(
      await (await adminClient(options, terminal)).referenceRules(project),
      ['project', 'readerEnvs', 'envs', 'keys', 'id'],
      options,
      terminal,
    ),

  add: async (project: string, options: RuleOptions, terminal: Terminal) => {
    const { reader, readerEnvs, envs, key: keys } = options
    const added = await (await adminClient(options, terminal)).addReferenceRule(project, {
      ...{ project: reader, ...(readerEnvs && { readerEnvs }), ...(envs && { envs }), ...(keys && { keys }) },
    })
    done(options, terminal, `Added the reference rule ${cell(added['id'])} to ${project}.`, added)
  },

  remove: async (project: string, id: string, options: GlobalOptions, terminal: Terminal) => {
    await (await adminClient(options, terminal)).removeReferenceRule(project, id)
    done(options, terminal, `Removed the reference rule ${id} of ${project}.`)
  },
}

/** Adds the commands for reference rules. */
export function addReferenceRules(admin: Command, terminal: Terminal): void {
  const references = admin
    .command('references')
    .description('Manage reference rules: other projects whose values may contain secrets of a project')
    .addHelpText('after', REFERENCES_HELP)
  references
    .command('list <project>', { isDefault: true })
    .description('List the reference rules of a project')
    .action((project: string, _options, command: Command) =>
      referenceCommands.list(project, command.optsWithGlobals(), terminal),
    )
  references
    .command('add <project>')
    .description('Allow another project to refer to secrets of a project')
    .requiredOption('--reader <name>', 'Project that refers to the secrets')
    .option('--reader-envs <names...>', 'Environments of the reader; all by default', readNames)
    .option('--envs <names...>', 'Environments that are read; all by default', readNames)
    .addOption(new Option('--key <key>', 'Only this secret; repeatable').argParser(collect))
    .action((project: string, _options, command: Command) =>
      referenceCommands.add(project, command.optsWithGlobals(), terminal),
    )
  references
    .command('remove <project> <id>')
    .alias('rm')
    .description('Remove a reference rule; values that need it can no longer be read')
    .action((project: string, id: string, _options, command: Command) =>
      referenceCommands.remove(project, id, command.optsWithGlobals(), terminal),
    )
}
