import { isAbsolute, join, relative } from 'node:path'
import type { Demo } from '../world/demo.ts'

/** The repository and the data directory. */
export type Place = { root: string; dataDir: string }

/** Quotes a word for a POSIX shell if necessary. */
export function shellWord(text: string): string {
  return /^[\w./:=@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}

/** Three commands to paste in the repository: a signed request, the vault's admin API, the tracker's REST API. */
export function commandsToTry({ vault, tracker }: Demo, { root, dataDir }: Place): [what: string, command: string][] {
  const below = relative(root, dataDir)
  const folder = below.startsWith('..') || isAbsolute(below) ? dataDir : below
  const file = (name: string): string => shellWord(join(folder, name))
  const member = tracker.users.find(({ role }) => role === 'member')
  if (member === undefined) throw new Error('the demo has no member')
  const login = JSON.stringify({ username: member.username, password: member.password })
  return [
    [
      'the demo project reads its secrets with a signed request',
      `VAULT_URL=${vault.url} VAULT_PROJECT=${vault.project} VAULT_PRIVATE_KEY_FILE=${file('demo-project.jwk')} ` +
        'node packages/vault-client/dist/cli.js get --env production',
    ],
    [
      "the administrator lists the vault's projects",
      `VAULT_URL=${vault.url} VAULT_ADMIN_TOKEN=${vault.adminToken} node packages/vault-client/dist/cli.js admin projects list --json`,
    ],
    [
      `${member.username} signs in to the tracker and lists its torrents`,
      `node --input-type=module -e ${shellWord(
        `const signIn = await fetch("${tracker.url}/api/auth/login", { method: "POST", headers: { "content-type": "application/json" }, ` +
          `body: ${JSON.stringify(login)} }); ` +
          `const list = await fetch("${tracker.url}/api/torrents", { headers: { cookie: signIn.headers.getSetCookie()[0].split(";")[0] } }); ` +
          'console.log(await list.text())',
      )}`,
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
