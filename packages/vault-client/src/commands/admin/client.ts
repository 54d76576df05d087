import { VaultError } from '../../client/errors.ts'
import { createTransport, type Method } from '../../client/transport.ts'
import { adminUrl, type GlobalOptions, transportSettings } from '../settings.ts'
import { type Terminal, UsageError } from '../terminal.ts'

export type SecretMetadata = Row & { readonly key: string }
export type Row = Readonly<Record<string, unknown>>

export type AdminClient = Awaited<ReturnType<typeof adminClient>>

/** The administration API, with the token from VAULT_ADMIN_TOKEN or a prompt. */
export async function adminClient(options: GlobalOptions, terminal: Terminal) {
  const url = await adminUrl(options, terminal)
  const token = await adminToken(terminal)
  const transport = createTransport(await transportSettings(url, options, terminal))
  const send = (method: Method, path: string, body?: object, once = false): Promise<unknown> =>
    transport.send({
      ...{ method, path: `/v1/admin${path}`, once },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      authenticate: () => ({ authorization: `Bearer ${token}` }),
    })
  const rows = async (path: string): Promise<readonly Row[]> => readRows(await send('GET', path))
  const at = (id: string): string => encodeURIComponent(id)

  return {
    projects: () => rows('/projects'),
    addProject: (project: object) => send('POST', '/projects', project, true),
    removeProject: (id: string) => send('DELETE', `/projects/${at(id)}`),
    rotate: async (id: string, body: object) => (await send('PUT', `/projects/${at(id)}/rotate`, body, true)) as Row,
    keys: (id: string, ended = false) => rows(`/projects/${at(id)}/keys${ended ? '?ended=true' : ''}`),
    addKey: async (id: string, key: object) => (await send('POST', `/projects/${at(id)}/keys`, key, true)) as Row,
    revokeKey: (id: string, fingerprint: string) => send('DELETE', `/projects/${at(id)}/keys/${at(fingerprint)}`),
    trustRules: (id: string) => rows(`/projects/${at(id)}/trust-rules`),
    addTrustRule: async (id: string, rule: object) =>
      (await send('POST', `/projects/${at(id)}/trust-rules`, rule, true)) as Row,
    removeTrustRule: (id: string, rule: string) => send('DELETE', `/projects/${at(id)}/trust-rules/${at(rule)}`),
    referenceRules: (id: string) => rows(`/projects/${at(id)}/reference-rules`),
    addReferenceRule: async (id: string, rule: object) =>
      (await send('POST', `/projects/${at(id)}/reference-rules`, rule, true)) as Row,
    removeReferenceRule: (id: string, rule: string) =>
      send('DELETE', `/projects/${at(id)}/reference-rules/${at(rule)}`),
    environments: (id: string) => rows(`/projects/${at(id)}/environments`),
    setParent: (id: string, env: string, parent: string | null) =>
      send('PUT', `/projects/${at(id)}/environments/${at(env)}`, { parent }),
    secrets: async (id: string, env?: string) =>
      (await rows(`/projects/${at(id)}/secrets${query({ env })}`)) as readonly SecretMetadata[],
    putSecret: async (id: string, body: object) =>
      (await send('PUT', `/projects/${at(id)}/secrets`, body, true)) as { readonly version: number },
    copySecrets: async (id: string, body: object) =>
      (await send('POST', `/projects/${at(id)}/secrets/copy`, body, true)) as Record<'copied' | 'skipped', number>,
    annotate: (id: string, details: object) => send('PATCH', `/secrets/${at(id)}`, details),
    expiring: async (days: string) =>
      (await send('GET', `/expiring${query({ days })}`)) as { items: readonly Row[]; complete: boolean },
    removeSecret: (id: string) => send('DELETE', `/secrets/${at(id)}`),
    versions: (id: string) => rows(`/secrets/${at(id)}/versions`),
    restore: (id: string, version: string) =>
      send('POST', `/secrets/${at(id)}/versions/${at(version)}/restore`, undefined, true),
    webhooks: (id: string) => rows(`/projects/${at(id)}/webhooks`),
    addWebhook: async (id: string, webhook: object) =>
      (await send('POST', `/projects/${at(id)}/webhooks`, webhook, true)) as Row,
    updateWebhook: (id: string, webhook: string, change: object) =>
      send('PATCH', `/projects/${at(id)}/webhooks/${at(webhook)}`, change),
    removeWebhook: (id: string, webhook: string) => send('DELETE', `/projects/${at(id)}/webhooks/${at(webhook)}`),
    testWebhook: async (id: string, webhook: string) =>
      (await send('POST', `/projects/${at(id)}/webhooks/${at(webhook)}/test`, undefined, true)) as Row,
    webhookKey: async () =>
      (await transport.send({ method: 'GET', path: '/v1/webhooks/key', authenticate: () => ({}) })) as Row,
    webhookDeliveries: (id: string, webhook: string, limit: number) =>
      rows(`/projects/${at(id)}/webhooks/${at(webhook)}/deliveries?limit=${String(limit)}`),
    administrators: () => rows('/administrators'),
    addAdministrator: async (administrator: object) =>
      (await send('POST', '/administrators', administrator, true)) as Row,
    removeAdministrator: (id: string) => send('DELETE', `/administrators/${at(id)}`),
    sessions: () => rows('/sessions'),
    endSession: (id: string) => send('DELETE', `/sessions/${at(id)}`),
    endSessions: () => send('DELETE', '/sessions'),
    verification: async () => (await send('GET', '/audit/verification')) as Row,
    audit: (filters: Readonly<Record<string, string | undefined>>) => rows(`/audit${query(filters)}`),
  }
}

async function adminToken(terminal: Terminal): Promise<string> {
  const { env, stdin } = terminal
  const token =
    env['VAULT_ADMIN_TOKEN'] || (stdin.isTTY === true ? await terminal.ask('Admin token: ', { hidden: true }) : '')
  if (token === '')
    throw new UsageError('missing VAULT_ADMIN_TOKEN; set this variable to the token of an administrator')
  // Headers cannot contain other characters, and the message of fetch would repeat the token.
  if (!/^[!-~]+$/.test(token))
    throw new UsageError('the admin token contains spaces or characters outside ASCII; check how it was copied')
  return token
}

function query(filters: Readonly<Record<string, string | undefined>>): string {
  const set = Object.entries(filters).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return set.length === 0 ? '' : `?${new URLSearchParams(set).toString()}`
}

function readRows(body: unknown): readonly Row[] {
  if (!Array.isArray(body)) throw new VaultError('invalid_answer', 'the response of the vault is not a list')
  return body as readonly Row[]
}
