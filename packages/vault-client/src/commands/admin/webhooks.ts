import type { Command } from 'commander'
import { Option } from 'commander'
import type { GlobalOptions } from '../settings.ts'
import { confirm, printable, readStdin, type Terminal, UsageError } from '../terminal.ts'
import { readCount } from '../values.ts'
import { cell, done, print } from './admin.ts'
import { adminClient } from './client.ts'

type Action<Options = object> = (options: GlobalOptions & Options, terminal: Terminal) => Promise<void>

const COLUMNS = {
  webhooks: ['id', 'url', 'enabled', 'failures', 'retryAt'],
  deliveries: ['createdAt', 'event', 'state', 'attempts', 'httpStatus', 'problem', 'nextAttemptAt', 'id'],
} as const

/** A URL may contain a secret of the receiver: `-` reads it from standard input. */
async function readUrl(text: string, terminal: Terminal): Promise<string> {
  return text === '-' ? (await readStdin(terminal)).trim() : text
}

/** The actions of `vault admin webhooks`. */
const webhookCommands = {
  list:
    (project: string): Action =>
    async (options, terminal) =>
      print(await (await adminClient(options, terminal)).webhooks(project), COLUMNS.webhooks, options, terminal),

  add:
    (project: string, url: string): Action =>
    async (options, terminal) => {
      const added = await (await adminClient(options, terminal)).addWebhook(project, {
        url: await readUrl(url, terminal),
      })
      done(options, terminal, `Added webhook ${cell(added['id'])} to ${project}.`, added)
    },

  update:
    (project: string, id: string): Action<{ to?: string; enable?: boolean; disable?: boolean }> =>
    async (options, terminal) => {
      const { to, enable, disable } = options
      if (to === undefined && enable !== true && disable !== true)
        throw new UsageError('set --to, --enable or --disable')
      const admin = await adminClient(options, terminal)
      await admin.updateWebhook(project, id, {
        ...(to !== undefined && { url: await readUrl(to, terminal) }),
        ...((enable === true || disable === true) && { enabled: enable === true }),
      })
      done(options, terminal, `Changed webhook ${id} of ${project}.`)
    },

  remove:
    (project: string, id: string): Action<{ yes?: boolean }> =>
    async (options, terminal) => {
      const admin = await adminClient(options, terminal)
      const question = `Delete webhook ${printable(id)}? This also deletes its waiting deliveries and its log.`
      await confirm(terminal, question, options)
      await admin.removeWebhook(project, id)
      done(options, terminal, `Deleted webhook ${id} of ${project}.`)
    },

  test:
    (project: string, id: string): Action =>
    async (options, terminal) => {
      const sent = await (await adminClient(options, terminal)).testWebhook(project, id)
      const text = `Queued test event ${cell(sent['id'])}. To see the result, run vault admin webhooks deliveries ${project} ${id}.`
      done(options, terminal, text, sent)
    },

  key: async (options: GlobalOptions, terminal: Terminal) => {
    const key = await (await adminClient(options, terminal)).webhookKey()
    done(options, terminal, cell(key['publicKey']), key)
  },

  deliveries:
    (project: string, id: string): Action<{ limit: number }> =>
    async (options, terminal) => {
      const rows = await (await adminClient(options, terminal)).webhookDeliveries(project, id, options.limit)
      print(rows, COLUMNS.deliveries, options, terminal)
    },
}

const HELP = `
Examples:
  $ vault admin webhooks add shop https://deploy.example.org/vault
  $ printf %s "$URL_WITH_TOKEN" | vault admin webhooks add shop -
  $ vault admin webhooks deliveries shop ID
`

export function addWebhooks(admin: Command, terminal: Terminal): void {
  const webhooks = admin
    .command('webhooks')
    .description('Manage the webhooks of a project, which receive its changes')
    .addHelpText('after', HELP)
  const run = (action: Action<never>, command: Command) => action(command.optsWithGlobals<never>(), terminal)
  const onProject = (name: string, action: (project: string) => Action<never>) =>
    webhooks
      .command(`${name} <project>`, { isDefault: name === 'list' })
      .action((project: string, _options, command: Command) => run(action(project), command))
  const onWebhook = (name: string, action: (project: string, id: string) => Action<never>) =>
    webhooks
      .command(`${name} <project> <id>`)
      .action((project: string, id: string, _options, command: Command) => run(action(project, id), command))
  onProject('list', webhookCommands.list).description('List the webhooks of a project')
  webhooks
    .command('add <project> <url>')
    .description('Send the changes of a project to a URL; - reads it from standard input')
    .action((project: string, url: string, _options, command: Command) =>
      run(webhookCommands.add(project, url), command),
    )
  onWebhook('update', webhookCommands.update)
    .description('Change the URL of a webhook, or enable or disable it')
    .option('--to <url>', 'New URL; - reads it from standard input')
    .addOption(new Option('--enable', 'Send events again').conflicts('disable'))
    .option('--disable', 'Send no events')
  onWebhook('rm', webhookCommands.remove)
    .description('Delete a webhook')
    .addOption(new Option('--yes', 'Skip the confirmation prompt'))
  onWebhook('test', webhookCommands.test).description('Send a test event')
  webhooks
    .command('key')
    .description('Print the public key that verifies the signatures of all webhooks')
    .action((_options, command: Command) => webhookCommands.key(command.optsWithGlobals(), terminal))
  onWebhook('deliveries', webhookCommands.deliveries)
    .description('List the deliveries of a webhook, newest first')
    .addOption(new Option('--limit <count>', 'Number of deliveries').argParser(readCount).default(100))
}
