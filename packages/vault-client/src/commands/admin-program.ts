import { type Command, Option } from 'commander'
import { adminCommands } from './admin.ts'
import type { Terminal } from './terminal.ts'
import { readCount, readDuration, readOverlap } from './values.ts'

export const yesOption = (): Option => new Option('--yes', 'do not ask')

const accessOption = (otherwise: string): Option =>
  new Option('--access <access>', `what the key may do; ${otherwise}`).choices(['read-write', 'read', 'write'])
const envsOption = (otherwise: string): Option =>
  new Option('--envs <names...>', `the only environments that the key may touch; ${otherwise}`)
const ALL = 'everything by default'
const ALL_ENVS = 'all by default'
const KEPT = 'as the newest valid key by default'

/** The commands of administrators, their arguments and options. */
export function addAdmin(program: Command, terminal: Terminal): void {
  const admin = program.command('admin').description('what administrators do, with VAULT_ADMIN_TOKEN or a prompt')
  const projects = admin.command('projects').description('list, register and delete projects')
  projects
    .command('list', { isDefault: true })
    .description('list projects')
    .action((_options, command: Command) => adminCommands.list('projects', command.optsWithGlobals(), terminal))
  projects
    .command('add <name>')
    .description('register a project')
    .requiredOption('--public-key <key>', 'its public key: 64 hex digits or a JWK')
    .option('--require-content-digest', 'refuse a PUT whose signature does not cover its body')
    .addOption(accessOption(ALL))
    .addOption(envsOption(ALL_ENVS))
    .action((name: string, _options, command: Command) =>
      adminCommands.addProject(name, command.optsWithGlobals(), terminal),
    )
  projects
    .command('rm <id>')
    .description('delete a project and all its secrets')
    .addOption(yesOption())
    .action((id: string, _options, command: Command) =>
      adminCommands.removeProject(id, command.optsWithGlobals(), terminal),
    )
  admin
    .command('rotate <project>')
    .description('replace the key of a project; prints the new private key unless a public key is given')
    .option('--public-key <key>', 'a key whose private half stays where it was made')
    .addOption(
      new Option('--overlap <seconds>', 'how long the replaced key stays valid, at most 600; 0 ends all older keys')
        .argParser(readOverlap)
        .default(600),
    )
    .option('--output <file>', 'write the new private key to a new file that only you read')
    .addOption(accessOption(KEPT))
    .addOption(envsOption(KEPT))
    .option('--all-envs', 'the key may touch all environments')
    .action((id: string, _options, command: Command) => adminCommands.rotate(id, command.optsWithGlobals(), terminal))
  admin
    .command('keys <project>')
    .description('list the valid keys of a project')
    .action((id: string, _options, command: Command) => adminCommands.keys(id, command.optsWithGlobals(), terminal))
  admin
    .command('revoke <project> <fingerprint>')
    .description('end a key at once')
    .action((id: string, fingerprint: string, _options, command: Command) =>
      adminCommands.revokeKey(id, fingerprint, command.optsWithGlobals(), terminal),
    )
  admin
    .command('secrets <project>')
    .description('list ids and keys of secrets, never values')
    .option('--env <name>', 'of this environment only')
    .action((id: string, _options, command: Command) => adminCommands.secrets(id, command.optsWithGlobals(), terminal))
  admin
    .command('versions <secret>')
    .description('list the versions of a secret, by its id')
    .action((id: string, _options, command: Command) => adminCommands.versions(id, command.optsWithGlobals(), terminal))
  admin
    .command('restore <secret> <version>')
    .description('make an older version of a secret the current one')
    .action((id: string, number: string, _options, command: Command) =>
      adminCommands.restore(id, number, command.optsWithGlobals(), terminal),
    )
  addAdministrators(admin, terminal)
  admin
    .command('audit')
    .description('print the audit log, newest first; of one project with --project')
    .option('--action <action>', 'of this action only, with who acted and the key of the secret')
    .option('--before <id>', 'what is older than this entry')
    .addOption(new Option('--limit <count>', 'how many').argParser(readCount).default(100))
    .action((_options, command: Command) => adminCommands.audit(command.optsWithGlobals(), terminal))
  admin
    .command('verify')
    .description('have the newest entries of the audit log checked against their chain')
    .action((_options, command: Command) => adminCommands.verify(command.optsWithGlobals(), terminal))
}

function addAdministrators(admin: Command, terminal: Terminal): void {
  const administrators = admin.command('administrators').description('list, add and remove named administrators')
  administrators
    .command('list', { isDefault: true })
    .description('list administrators')
    .action((_options, command: Command) => adminCommands.list('administrators', command.optsWithGlobals(), terminal))
  administrators
    .command('add <name>')
    .description('add an administrator; prints their token, this once, and id and role on standard error')
    .addOption(new Option('--role <role>', 'what they may do').choices(['administrator', 'auditor']).default('auditor'))
    .option('--projects <names...>', 'only these projects')
    .addOption(new Option('--expires <time>', 'end the token after this time, such as 30d').argParser(readDuration))
    .action((name: string, _options, command: Command) =>
      adminCommands.addAdministrator(name, command.optsWithGlobals(), terminal),
    )
  administrators
    .command('rm <id>')
    .description('end the token of an administrator')
    .addOption(yesOption())
    .action((id: string, _options, command: Command) =>
      adminCommands.removeAdministrator(id, command.optsWithGlobals(), terminal),
    )
}
