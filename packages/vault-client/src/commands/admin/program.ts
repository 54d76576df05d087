import { type Command, Option } from 'commander'
import { addTrust } from '../../oidc/trust-program.ts'
import { readPublicKey } from '../public-keys.ts'
import type { Terminal } from '../terminal.ts'
import { readCount, readDuration, readEnvironment, readNames, readOverlap, readSince, readText } from '../values.ts'
import { adminCommands } from './admin.ts'
import { addEnvironments, addReferenceRules } from './inheritance.ts'
import { keyCommands } from './keys.ts'
import { addAdminSecrets } from './secrets-program.ts'
import { addWebhooks } from './webhooks.ts'

export const yesOption = (): Option => new Option('--yes', 'Skip the confirmation prompt')

const accessOption = (otherwise: string): Option =>
  new Option('--access <access>', `Access of the key; ${otherwise}`).choices(['read-write', 'read', 'write'])
const envsOption = (otherwise: string): Option =>
  new Option('--envs <names...>', `Environments of the key; ${otherwise}`).argParser(readNames)
const publicKeyOption = (description: string): Option =>
  new Option('--public-key <key>', `${description}: 64 hex digits, a JWK or a PEM`).argParser(readPublicKey)
const KEPT = 'that of the replaced key by default'
const KEPT_EXPIRY = 'by default it expires when the replaced key would'

export function addAdmin(program: Command, terminal: Terminal, exit: (status: number) => void): void {
  const admin = program
    .command('admin')
    .description('Manage projects, keys, secrets, trust rules, webhooks and administrators, and read the audit log')
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
  addTrust(admin, [accessOption('read by default'), envsOption('all by default')], terminal)
  addVersions(addAdminSecrets(admin, terminal, exit), terminal)
  addEnvironments(admin, terminal)
  addReferenceRules(admin, terminal)
  addVersions(admin, terminal)
  addWebhooks(admin, terminal)
  addAdministrators(admin, terminal)
  addSessions(admin, terminal)
  addAudit(admin, terminal)
}

const KEYS_HELP = `
Examples:
  $ vault admin keys add shop dana --public-key "$(cat dana.pub)"
  $ vault admin keys add shop ci --access read --envs staging --expires 90d --output ci.key
  $ vault admin keys revoke shop dana
  $ vault admin keys revoke shop deploy --exchanged
`

function addKeys(admin: Command, terminal: Terminal): void {
  const keys = admin
    .command('keys')
    .description('Manage the keys of a project: one per person, host or job')
    .addHelpText('after', KEYS_HELP)
  keys
    .command('list <project>', { isDefault: true })
    .description('List the active keys of a project, including those exchanged under a trust rule')
    .option('--ended', 'Include keys that expired or were revoked in the last 30 days')
    .action((project: string, _options, command: Command) =>
      keyCommands.list(project, command.optsWithGlobals(), terminal),
    )
  keys
    .command('add <project> <name>')
    .description('Add a key; prints the private key unless you pass a public key')
    .addOption(publicKeyOption('Public key to use instead of a new key pair'))
    .option('--output <file>', 'New file for the private key, readable only by you')
    .addOption(accessOption('read-write by default'))
    .addOption(envsOption('all by default'))
    .addOption(new Option('--expires <time>', 'Lifetime of the key, such as 90d').argParser(readDuration))
    .action((project: string, name: string, _options, command: Command) =>
      keyCommands.add(project, name, command.optsWithGlobals(), terminal),
    )
  addRotate(keys.command('rotate <project> [name]'), terminal)
  addRevoke(keys.command('revoke <project> <key>'), terminal)
  // Their names before keys had names.
  addRotate(admin.command('rotate <project> [name]', { hidden: true }), terminal)
  addRevoke(admin.command('revoke <project> <key>', { hidden: true }), terminal)
}

function addRotate(command: Command, terminal: Terminal): void {
  command
    .description('Replace a key and print the new private key; an expired or revoked default key can be replaced too')
    .addOption(publicKeyOption('Public key to use instead of a new key pair'))
    .addOption(
      new Option('--overlap <duration>', 'Time the replaced key stays active, at most 10m; 0 revokes it immediately')
        .argParser(readOverlap)
        .default(600, '10m'),
    )
    .option('--output <file>', 'New file for the private key, readable only by you')
    .addOption(accessOption(KEPT))
    .addOption(envsOption(KEPT))
    .option('--all-envs', 'All environments')
    .addOption(
      new Option('--expires <time>', `Lifetime of the key, such as 90d; ${KEPT_EXPIRY}`).argParser(readDuration),
    )
    .option('--lasting', 'No expiry')
    .action((project: string, name: string | undefined, _options, self: Command) =>
      keyCommands.rotate(project, name, self.optsWithGlobals(), terminal),
    )
}

function addRevoke(command: Command, terminal: Terminal): void {
  command
    .description('Revoke a key, given by its name or fingerprint, immediately')
    .option('--exchanged', 'Revoke the keys exchanged under the trust rule with this name instead')
    .action((project: string, key: string, _options, self: Command) =>
      keyCommands.revoke(project, key, self.optsWithGlobals(), terminal),
    )
}

function addVersions(parent: Command, terminal: Terminal): void {
  parent
    .command('rm <secret>')
    .description('Delete a secret by its ID')
    .addOption(yesOption())
    .action((id: string, _options, command: Command) =>
      adminCommands.removeSecret(id, command.optsWithGlobals(), terminal),
    )
  parent
    .command('versions <secret>')
    .description('List the versions of a secret by its ID')
    .action((id: string, _options, command: Command) => adminCommands.versions(id, command.optsWithGlobals(), terminal))
  parent
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
    .addOption(
      new Option('--role <role>', 'Role; an editor writes secrets without reading them')
        .choices(['administrator', 'editor', 'auditor'])
        .default('auditor'),
    )
    .addOption(new Option('--projects <names...>', 'Projects; all by default').argParser(readNames))
    .addOption(new Option('--expires <time>', 'Lifetime of the token, such as 30d').argParser(readDuration))
    .action((name: string, _options, command: Command) =>
      adminCommands.addAdministrator(name, command.optsWithGlobals(), terminal),
    )
  administrators
    .command('rm <name-or-id>')
    .description('Remove an administrator and revoke their token')
    .addOption(yesOption())
    .action((nameOrId: string, _options, command: Command) =>
      adminCommands.removeAdministrator(nameOrId, command.optsWithGlobals(), terminal),
    )
}

function addSessions(admin: Command, terminal: Terminal): void {
  const sessions = admin.command('sessions').description('Manage the sessions of administrators in the console')
  sessions
    .command('list', { isDefault: true })
    .description('List sessions')
    .action((_options, command: Command) => adminCommands.list('sessions', command.optsWithGlobals(), terminal))
  sessions
    .command('revoke <id>')
    .description('End a session immediately')
    .action((id: string, _options, command: Command) =>
      adminCommands.revokeSession(id, command.optsWithGlobals(), terminal),
    )
  sessions
    .command('revoke-all')
    .description('End all sessions immediately; requires ADMIN_TOKEN')
    .addOption(yesOption())
    .action((_options, command: Command) => adminCommands.revokeSessions(command.optsWithGlobals(), terminal))
}

const AUDIT_HELP = `
Examples:
  $ vault admin audit --project shop --since 24h
  $ vault admin audit --action delete --env production
  $ vault admin audit --project shop --key-name dana
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
        'Only entries of this actor: key:<fingerprint>, project:<name>, administrator[:<id>], oidc:<subject>, command or unknown',
      ).argParser(readText),
    )
    .addOption(new Option('--key-name <name>', 'Only entries of keys with this name').argParser(readText))
    .addOption(new Option('--env <name>', 'Only this environment').argParser(readEnvironment))
    .addOption(new Option('--key <key>', 'Only entries about the secret with this key').argParser(readText))
    .addOption(
      new Option('--since <time>', 'Only newer entries; a duration such as 24h, or a time').argParser(readSince),
    )
    .option('--before <id>', 'Only entries older than the one with this ID')
    .addOption(new Option('--limit <count>', 'Number of entries').argParser(readCount).default(100))
    .addHelpText('after', AUDIT_HELP)
    .action((_options, command: Command) => adminCommands.audit(command.optsWithGlobals(), terminal))
  admin
    .command('verify')
    .description('Check the newest entries of the audit log against its seals')
    .action((_options, command: Command) => adminCommands.verify(command.optsWithGlobals(), terminal))
}
