import { isAbsolute, join, relative } from 'node:path'
import { findProgram } from '../processes/command.mjs'
import type { Demo } from '../world/demo.ts'

/** The repository and the data directory. */
export type Place = { root: string; dataDir: string; hasCurl?: boolean }

/** Quotes a word for a POSIX shell if necessary. */
export function shellWord(text: string): string {
  return /^[\w./:=@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}

/** Three commands to paste in the repository: a signed request, the vault's admin API, the tracker's REST API. */
export function commandsToTry(
  { vault, tracker }: Demo,
  { root, dataDir, hasCurl = findProgram('curl') !== undefined }: Place,
): [what: string, command: string][] {
  const below = relative(root, dataDir)
  const folder = below.startsWith('..') || isAbsolute(below) ? dataDir : below
  const file = (name: string): string => shellWord(join(folder, name))
  const member = tracker.users.find(({ role }) => role === 'member')
  if (member === undefined) throw new Error('the demo has no member')
  const login = JSON.stringify({ username: member.username, password: member.password })
  const node = (code: string): string => `node --input-type=module -e ${shellWord(code)}`
  const projects = `${vault.url}/v1/admin/projects`
  const [signIn, torrents] = [`${tracker.url}/api/auth/login`, `${tracker.url}/api/torrents`]
  return [
    [
      'the demo project reads its secrets with a signed request',
      `VAULT_URL=${vault.url} VAULT_PROJECT=${vault.project} VAULT_PRIVATE_KEY_FILE=${file('demo-project.jwk')} ` +
        'node packages/vault-client/dist/cli.js get --env production',
    ],
    [
      "the administrator lists the vault's projects",
      hasCurl
        ? `curl -s -H 'Authorization: Bearer ${vault.adminToken}' ${projects}`
        : node(
            `const r = await fetch("${projects}", { headers: { authorization: "Bearer ${vault.adminToken}" } }); ` +
              'console.log(await r.text())',
          ),
    ],
    [
      `${member.username} signs in to the tracker and lists its torrents`,
      hasCurl
        ? `curl -s -o /dev/null -c ${file('demo/cookies')} -H 'Content-Type: application/json' ` +
          `-d ${shellWord(login)} ${signIn} && curl -s -b ${file('demo/cookies')} ${torrents}`
        : node(
            `const r = await fetch("${signIn}", { method: "POST", headers: { "content-type": "application/json" }, ` +
              `body: ${JSON.stringify(login)} }); ` +
              `const l = await fetch("${torrents}", { headers: { cookie: r.headers.getSetCookie()[0].split(";")[0] } }); ` +
              'console.log(await l.text())',
          ),
    ],
  ]
}

/** The text that is printed when everything is ready. */
export function banner(demo: Demo, place: Place): string {
  const { vault, tracker } = demo
  const users = tracker.users.map(
    ({ username, role, password }) => `  ${username.padEnd(8)} ${role.padEnd(7)} ${password}`,
  )
  const commands = commandsToTry(demo, place).map(([what, command]) => `\n  # ${what}\n  ${command}`)
  return `
Vault    ${vault.url}, console at ${vault.url}/console
Tracker  ${tracker.url}

Vault admin token  ${vault.adminToken}
Vault project      ${vault.project}, private key in ${join(place.dataDir, 'demo-project.jwk')}
Tracker users, roles and passwords:
${users.join('\n')}

Scripts find the same in ${join(place.dataDir, 'demo.json')}. Logs are in ${join(place.dataDir, 'logs')}.

Try, from the repository:
${commands.join('\n')}

Ctrl-C stops everything. The data is kept for the next start.
`
}
