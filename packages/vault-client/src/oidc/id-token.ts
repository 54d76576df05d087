import { readFile } from 'node:fs/promises'
import { codeOf, reasonOf } from '../commands/files.ts'
import { proxiedFetch } from '../commands/proxy.ts'
import { CommandError, type Terminal, UsageError } from '../commands/terminal.ts'

/** Where a pod mounts a token for the vault, unless VAULT_ID_TOKEN_FILE names another file. */
const KUBERNETES_FILE = '/var/run/secrets/vault/token'
const TIMEOUT_MS = 10_000

/**
 * Returns a function that obtains an ID token of the platform: from a file or a variable that names one for the vault,
 * or by a request to the runner of GitHub Actions or Forgejo Actions.
 *
 * @param audience the audience of a requested token
 * @throws UsageError if the platform has none
 */
export async function idTokenSource(
  file: string | undefined,
  audience: string,
  { env }: Terminal,
): Promise<() => Promise<string>> {
  const given = file ?? (env['VAULT_ID_TOKEN_FILE'] || undefined)
  if (given !== undefined) return () => readToken(given)
  const token = env['VAULT_ID_TOKEN']
  if (token) return () => Promise.resolve(token.trim())
  const [url, bearer] = [env['ACTIONS_ID_TOKEN_REQUEST_URL'], env['ACTIONS_ID_TOKEN_REQUEST_TOKEN']]
  if (url && bearer) return () => requestToken(url, bearer, audience, env)
  if (await exists(KUBERNETES_FILE)) return () => readToken(KUBERNETES_FILE)
  throw new UsageError(
    'there is no ID token: grant the permission id-token: write (GitHub), set enable-openid-connect (Forgejo), declare VAULT_ID_TOKEN in id_tokens (GitLab), or set VAULT_ID_TOKEN_FILE',
  )
}

async function exists(file: string): Promise<boolean> {
  return readFile(file).then(
    () => true,
    (error: unknown) => codeOf(error) !== 'ENOENT' && codeOf(error) !== 'ENOTDIR',
  )
}

async function readToken(file: string): Promise<string> {
  try {
    return (await readFile(file, 'utf8')).trim()
  } catch (error) {
    throw new CommandError(`cannot read the ID token ${file}: ${reasonOf(error)}`)
  }
}

/** Messages do not repeat the URL or the response, which contain tokens. */
async function requestToken(text: string, bearer: string, audience: string, env: Terminal['env']): Promise<string> {
  if (!URL.canParse(text)) throw new CommandError('ACTIONS_ID_TOKEN_REQUEST_URL is not a URL')
  const url = new URL(text)
  url.searchParams.set('audience', audience)
  const send = (await proxiedFetch(url.href, env)) ?? fetch
  let status: number
  let value: unknown
  try {
    const response = await send(url.href, {
      headers: { authorization: `Bearer ${bearer}`, accept: 'application/json' },
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    status = response.status
    value = ((await response.json()) as Record<string, unknown> | null)?.['value']
  } catch {
    throw new CommandError(`the runner at ${url.host} did not issue an ID token`)
  }
  if (typeof value === 'string') return value
  throw new CommandError(`the runner at ${url.host} did not issue an ID token (${String(status)})`)
}
