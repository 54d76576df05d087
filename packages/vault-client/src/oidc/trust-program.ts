import { type Command, InvalidArgumentError, Option } from 'commander'
import type { Terminal } from '../commands/terminal.ts'
import { trustCommands } from './trust.ts'

const TRUST_HELP = `
A claim is a name and a pattern, in which * stands for any characters. A name that starts with a slash is a path to a
nested claim. At least one claim has to identify an owner, such as a repository, project or namespace.

Examples:
  $ vault admin trust add shop deploy --issuer https://token.actions.githubusercontent.com \\
      --claim 'sub=repo:octo-org/shop:ref:refs/heads/main' --envs production
  $ vault admin trust add shop pipeline --issuer https://gitlab.example.org \\
      --claim project_path=octo-org/shop --claim ref_protected=true
  $ vault admin trust add shop pods --issuer https://kubernetes.default.svc.cluster.local \\
      --claim sub=system:serviceaccount:shop:api --minutes 60
`

export function addTrust(admin: Command, scopeOptions: readonly Option[], terminal: Terminal): void {
  const trust = admin
    .command('trust')
    .alias('trust-rules')
    .description('Manage trust rules, which let jobs and pods exchange ID tokens for short-lived keys')
    .addHelpText('after', TRUST_HELP)
  trust
    .command('list <project>', { isDefault: true })
    .description('List the trust rules of a project')
    .action((project: string, _options, command: Command) =>
      trustCommands.list(project, command.optsWithGlobals(), terminal),
    )
  const add = trust
    .command('add <project> <name>')
    .description('Add a trust rule for ID tokens with these claims')
    .requiredOption('--issuer <url>', 'Issuer of the tokens, exactly as in their iss claim')
    .option('--audience <text>', 'Audience of the tokens; the URL of the vault by default')
    .addOption(
      new Option('--claim <name=pattern>', 'Claim that the tokens must have; repeatable')
        .argParser(readClaim)
        .makeOptionMandatory(),
    )
    .option('--algorithms <names...>', 'Accepted algorithms; RS256 and ES256 by default')
    .addOption(new Option('--minutes <count>', 'Lifetime of a key, at most 60; 15 by default').argParser(readMinutes))
    .addHelpText('after', TRUST_HELP)
    .action((project: string, name: string, _options, command: Command) =>
      trustCommands.add(project, name, command.optsWithGlobals(), terminal),
    )
  for (const option of scopeOptions) add.addOption(option)
  trust
    .command('remove <project> <rule>')
    .alias('rm')
    .description('Remove a trust rule, given by its name or ID, and end its keys immediately')
    .action((project: string, rule: string, _options, command: Command) =>
      trustCommands.remove(project, rule, command.optsWithGlobals(), terminal),
    )
}

function readClaim(text: string, previous: Readonly<Record<string, string>> = {}): Record<string, string> {
  const at = text.indexOf('=')
  if (at < 1) throw new InvalidArgumentError('Use a name and a pattern, such as sub=repo:octo-org/shop:*.')
  const name = text.slice(0, at)
  if (Object.hasOwn(previous, name)) throw new InvalidArgumentError('Use each claim once.')
  return { ...previous, [name]: text.slice(at + 1) }
}

function readMinutes(text: string): number {
  if (!/^([1-9]|[1-5]\d|60)$/.test(text)) throw new InvalidArgumentError('Use a number from 1 to 60.')
  return Number(text)
}
