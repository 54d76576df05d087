import { type Command, Option } from 'commander'
import { adminCommands } from './admin.ts'
import { readPublicKey } from './public-keys.ts'
import type { Terminal } from './terminal.ts'
import { readCount, readDuration, readEnvironment, readOverlap, readSince, readText } from './values.ts'

export const yesOption = (): Option => new Option('--yes', 'Skip the confirmation prompt')

const accessOption = (otherwise: string): Option =>
  new Option('--access <access>', `Access of the key; ${otherwise}`).choices(['read-write', 'read', 'write'])
const envsOption = (otherwise: string): Option =>
  new Option('--envs <names...>', `Environments of the key; ${otherwise}`)
const publicKeyOption = (description: string): Option =>
  new Option('--public-key <key>', `${description}: 64 hex digits, a JWK or a PEM`).argParser(readPublicKey)
const KEPT = 'that of the newest active key by default'

export function addAdmin(program: Command, terminal: Terminal): void {
  const admin = program.command('admin').description('Manage projects, keys and administrators, and read the audit log')
  const projects = admin.command('projects').description('Manage projects')
  projects
    .command('list', { isDefault: true })
    .description('List projects')
    .action((_options, command: Command) => adminCommands.list('projects', command.optsWithGlobals(), terminal))
  projects
    .command('add <name>')
    .description('Register a project')
    .addOption(publicKeyOption('Public key of the project').makeOptionMandatory())
    .option('--require-content-digest', 'Refuse a PUT whose signature does not cover its body')
    .addOption(accessOption('read-write by default'))
    .addOption(envsOption('all by default'))
    .action((name: string, _options, command: Command) =>
      adminCommands.addProject(name, command.optsWithGlobals(), terminal),
    )
  projects
    .command('rm <id>')
    .description('Delete a project and all its secrets')
    .addOption(yesOption())
    .action((id: string, _options, command: Command) =>
      adminCommands.removeProject(id, command.optsWithGlobals(), terminal),
    )
  addKeys(admin, terminal)
  addSecrets(admin, terminal)
  addAdministrators(admin, terminal)
  addAudit(admin, terminal)
}

function addKeys(admin: Command, terminal: Terminal): void {
  admin
    .command('rotate <project>')
    .description('Replace the key of a project; prints the new private key')
    .addOption(publicKeyOption('Public key to use instead of a new key pair'))
    .addOption(
      new Option('--overlap <seconds>', 'Time the replaced key stays active, at most 600; 0 revokes all older keys')
        .argParser(readOverlap)
        .default(600),
    )
    .option('--output <file>', 'New file for the private key, readable only by you')
    .addOption(accessOption(KEPT))
    .addOption(envsOption(KEPT))
    .option('--all-envs', 'All environments')
    .action((id: string, _options, command: Command) => adminCommands.rotate(id, command.optsWithGlobals(), terminal))
  admin
    .command('keys <project>')
    .description('List the active keys of a project')
    .action((id: string, _options, command: Command) => adminCommands.keys(id, command.optsWithGlobals(), terminal))
  admin
    .command('revoke <project> <fingerprint>')
    .description('Revoke a key immediately')
    .action((id: string, fingerprint: string, _options, command: Command) =>
      adminCommands.revokeKey(id, fingerprint, command.optsWithGlobals(), terminal),
    )
}

function addSecrets(admin: Command, terminal: Terminal): void {
  admin
    .command('secrets <project>')
    .description('List the ids and keys of secrets')
    .addOption(new Option('--env <name>', 'Only this environment').argParser(readEnvironment))
    .action((id: string, _options, command: Command) => adminCommands.secrets(id, command.optsWithGlobals(), terminal))
  admin
    .command('rm <secret>')
    .description('Delete a secret by its id')
    .addOption(yesOption())
    .action((id: string, _options, command: Command) =>
      adminCommands.removeSecret(id, command.optsWithGlobals(), terminal),
    )
  admin
    .command('versions <secret>')
    .description('List the versions of a secret by its id')
    .action((id: string, _options, command: Command) => adminCommands.versions(id, command.optsWithGlobals(), terminal))
  admin
    .command('restore <secret> <version>')
    .description('Restore an older version of a secret')
    .action((id: string, number: string, _options, command: Command) =>
      adminCommands.restore(id, number, command.optsWithGlobals(), terminal),
    )
}

function addAdministrators(admin: Command, terminal: Terminal): void {
  const administrators = admin.command('administrators').description('Manage named administrators')
  administrators
    .command('list', { isDefault: true })
    .description('List administrators')
    .action((_options, command: Command) => adminCommands.list('administrators', command.optsWithGlobals(), terminal))
  administrators
    .command('add <name>')
    .description('Add an administrator and print their token, which is not shown again')
    .addOption(new Option('--role <role>', 'Role').choices(['administrator', 'auditor']).default('auditor'))
    .option('--projects <names...>', 'Projects; all by default')
    .addOption(new Option('--expires <time>', 'Lifetime of the token, such as 30d').argParser(readDuration))
    .action((name: string, _options, command: Command) =>
      adminCommands.addAdministrator(name, command.optsWithGlobals(), terminal),
    )
  administrators
    .command('rm <id>')
    .description('Remove an administrator and revoke their token')
    .addOption(yesOption())
    .action((id: string, _options, command: Command) =>
      adminCommands.removeAdministrator(id, command.optsWithGlobals(), terminal),
    )
}

const AUDIT_HELP = `
Examples:
  $ vault admin audit --project shop --since 24h
  $ vault admin audit --action delete --env production
  $ vault admin audit --key DATABASE_URL --actor key:5f3c…
`

function addAudit(admin: Command, terminal: Terminal): void {
  admin
    .command('audit')
    .description('Show the audit log, newest entry first')
    .option('--action <action>', 'Only this action, such as fetch, put, delete, rotate or refused')
    .addOption(
      new Option(
        '--actor <actor>',
        'Only entries of this actor: key:<fingerprint>, administrator[:<id>], command or unknown',
      ).argParser(readText),
    )
    .addOption(new Option('--env <name>', 'Only this environment').argParser(readEnvironment))
    .addOption(new Option('--key <key>', 'Only entries about the secret with this key').argParser(readText))
    .addOption(
      new Option('--since <time>', 'Only newer entries; a duration such as 24h, or a time').argParser(readSince),
    )
    .option('--before <id>', 'Only entries older than the one with this id')
    .addOption(new Option('--limit <count>', 'Number of entries').argParser(readCount).default(100))
    .addHelpText('after', AUDIT_HELP)
    .action((_options, command: Command) => adminCommands.audit(command.optsWithGlobals(), terminal))
  admin
    .command('verify')
    .description('Check the newest entries of the audit log against its seals')
    .action((_options, command: Command) => adminCommands.verify(command.optsWithGlobals(), terminal))
}
