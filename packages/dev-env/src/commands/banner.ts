import { isAbsolute, join, relative } from 'node:path'
import { findProgram } from '../processes/command.mjs'
import type { Demo } from '../world/demo.ts'

/** The folders and programs of the user. */
export type Place = {
  /** The repository. */
  root: string
  dataDir: string
  hasCurl?: boolean
}

/** Quotes a word for a POSIX shell where it has to be. */
export function shellWord(text: string): string {
  return /^[\w./:=@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}

/** Three commands that work as pasted in the repository: a signed request, the vault's admin API, the tracker's REST API. */
export function commandsToTry(
  { vault, tracker }: Demo,
  { root, dataDir, hasCurl = findProgram('curl') !== undefined }: Place,
): [what: string, command: string][] {
  const below = relative(root, dataDir)
  const folder = below.startsWith('..') || isAbsolute(below) ? dataDir : below
  const file = (name: string): string => shellWord(join(folder, name))
  const member = tracker.users.find(({ role }) => role === 'member')
  if (member === undefined) throw new Error('the demo has no member')
  const signer = [
    `VAULT_URL=${vault.url}`,
    `VAULT_PROJECT=${vault.project}`,
    `VAULT_PRIVATE_KEY_FILE=${file('demo-project.jwk')}`,
    'node packages/vault-client/dist/cli.js get --env production',
  ].join(' ')
  const login = JSON.stringify({ username: member.username, password: member.password })
  // Where curl is missing, Node is there.
  const node = (code: string): string => `node --input-type=module -e ${shellWord(code)}`
  return [
    ['the demo project reads its secrets, with a signed request', signer],
    [
      "the administrator lists the vault's projects",
      hasCurl
        ? `curl -s -H 'Authorization: Bearer ${vault.adminToken}' ${vault.url}/v1/admin/projects`
        : node(
            `const r = await fetch("${vault.url}/v1/admin/projects", { headers: { authorization: "Bearer ${vault.adminToken}" } }); ` +
              'console.log(await r.text())',
          ),
    ],
    [
      `${member.username} signs in to the tracker and lists its torrents`,
      hasCurl
        ? `curl -s -o /dev/null -c ${file('demo/cookies')} -H 'Content-Type: application/json' ` +
          `-d ${shellWord(login)} ${tracker.url}/api/auth/login && curl -s -b ${file('demo/cookies')} ${tracker.url}/api/torrents`
        : node(
            `const r = await fetch("${tracker.url}/api/auth/login", { method: "POST", headers: { "content-type": "application/json" }, ` +
              `body: ${JSON.stringify(login)} }); ` +
              `const l = await fetch("${tracker.url}/api/torrents", { headers: { cookie: r.headers.getSetCookie()[0].split(";")[0] } }); ` +
              'console.log(await l.text())',
          ),
    ],
  ]
}

/** What the screen shows when everything runs. */
export function banner(demo: Demo, place: Place): string {
  const { vault, tracker } = demo
  const { dataDir } = place
  const users = tracker.users.map(
    ({ username, role, password }) => `  ${username.padEnd(8)} ${role.padEnd(7)} ${password}`,
  )
  const tries = commandsToTry(demo, place).flatMap(([what, command]) => ['', `  # ${what}`, `  ${command}`])
  return [
    '',
    `Vault    ${vault.url}, its console ${vault.url}/console`,
    `Tracker  ${tracker.url}`,
    '',
    `Vault's admin token  ${vault.adminToken}`,
    `Vault's project      ${vault.project}, private key in ${join(dataDir, 'demo-project.jwk')}`,
    `Tracker's users, roles and passwords:`,
    ...users,
    '',
    `The same for scripts is in ${join(dataDir, 'demo.json')}, the services' logs are in ${join(dataDir, 'logs')}.`,
    '',
    'To try, from the repository:',
    ...tries,
    '',
    'Ctrl-C stops everything; the data stays for the next start.',
    '',
  ].join('\n')
}
