import { spawnSync } from 'node:child_process'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { capture, Fault, findProgram } from '../../packages/dev-env/src/processes/command.mjs'
import { BROWSERS } from '../../packages/dev-env/src/testing/browsers.mjs'

/**
 * Programs of which one is needed, and how to get it; `otherwise` names other ways.
 *
 * `module` is a module of Python that has no program.
 *
 * @typedef {{ programs: string[], debianPackage: string, purpose: string, otherwise: string, module?: string }} Kind
 */

const POLICY = '/usr/sbin/policy-rc.d'

/** Redis or Valkey. @type {Kind} */
export const REDIS = {
  programs: ['redis-server', 'valkey-server'],
  debianPackage: 'redis-server',
  purpose: 'The private Redis',
  otherwise: ' (or brew install redis), set REDIS_URL to a Redis you have, or use docker compose up instead',
}

/** @param {string} debianPackage @param {string} purpose @param {string} brew @returns {Kind} */
const forTests = (debianPackage, purpose, brew = '', programs = [debianPackage]) => ({
  programs,
  debianPackage,
  purpose,
  otherwise: brew === '' ? '' : ` (or brew install ${brew})`,
})

const CLIENT_TEST = 'The end-to-end test of the tracker'
const COMPLETION_TEST = 'The test of the completions of the vault command'

/** What only tests need: BitTorrent clients that transfer files, a browser, a proxy in front, another XML parser, shells. */
export const TEST_PROGRAMS = [
  forTests('aria2', CLIENT_TEST, 'aria2', ['aria2c']),
  forTests('transmission-daemon', CLIENT_TEST, 'transmission-cli'),
  forTests('transmission-cli', CLIENT_TEST, 'transmission-cli', ['transmission-show']),
  forTests('qbittorrent-nox', CLIENT_TEST),
  forTests('chromium-headless-shell', 'The test of the web applications', '', BROWSERS),
  forTests('openssl', CLIENT_TEST),
  forTests('nginx', CLIENT_TEST, 'nginx'),
  forTests('prometheus', 'The test of the alert rules', 'prometheus', ['promtool']),
  forTests('python3', 'The test of Torznab documents'),
  forTests('python3-dotenv', 'The test of the formats of vault export', '', ['python-dotenv']),
  {
    ...forTests('python3-cryptography', 'The test of the recipes for signing', '', ['python3']),
    module: 'cryptography',
  },
  forTests('curl', 'The test of the recipes for signing', 'curl'),
  forTests('fish', COMPLETION_TEST, 'fish'),
  forTests('zsh', COMPLETION_TEST, 'zsh'),
]

/**
 * Makes sure that one program of each kind is there. For root on Debian and derived systems the packages are installed.
 * Otherwise the error names everything that is missing, at once.
 *
 * @param {Kind[]} kinds
 * @param {import('./progress.mjs').Step} step
 * @throws {Fault} naming what to install
 */
export async function ensurePrograms(kinds, step) {
  const missing = kinds.filter((kind) => !isPresent(kind))
  if (missing.length === 0) return
  const aptGet = findProgram('apt-get')
  if (process.getuid?.() !== 0 || aptGet === undefined) throw new Fault(remedy(missing, aptGet !== undefined))
  for (const kind of missing) {
    await step(`${kind.debianPackage} installed`, () => installPackage(aptGet, kind.debianPackage))
    if (!isPresent(kind)) throw new Fault(`${kind.debianPackage} was installed but contains no ${kind.programs[0]}.`)
  }
}

/** @param {Kind} kind */
function isPresent({ programs, module }) {
  if (module !== undefined) return hasModule(module)
  return programs.some((name) => findProgram(name) !== undefined)
}

/** What Debian installs, Debian's own Python finds. @param {string} name */
function hasModule(name) {
  return ['python3', '/usr/bin/python3'].some((python) => spawnSync(python, ['-c', `import ${name}`]).status === 0)
}

/**
 * A sentence for each thing that the user has to install, and the one command for several.
 *
 * @param {Kind[]} kinds
 * @param {boolean} hasApt
 */
export function remedy(kinds, hasApt) {
  const sentences = kinds.map(({ programs, debianPackage, purpose, otherwise }) => {
    const how = hasApt ? `sudo apt-get install ${debianPackage}` : `install ${programs.join(' or ')}`
    return `${purpose} needs ${programs[0]}, which is not on this machine: ${how}${otherwise}.`
  })
  const packages = kinds.map(({ debianPackage }) => debianPackage).join(' ')
  return [...sentences, ...(hasApt && kinds.length > 1 ? [`All at once: sudo apt-get install ${packages}`] : [])].join(
    '\n',
  )
}

/** @param {string} aptGet @param {string} name */
async function installPackage(aptGet, name) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', NEEDRESTART_MODE: 'l' }
  const options = ['-o', 'Acquire::Retries=3', '-o', 'DPkg::Lock::Timeout=120']
  const install = () => capture(aptGet, [...options, 'install', '-y', '--no-install-recommends', name], { env })
  await withoutDaemons(async () => {
    // A new machine has no package lists, another may have old ones; only then is an update needed.
    if ((await install()).code === 0) return
    const update = await capture(aptGet, [...options, 'update'], { env })
    const { code, output } = await install()
    if (code !== 0) throw new Fault(`apt-get could not install ${name}\n\n${update.output}\n${output.trimEnd()}`)
  })
}

/**
 * Debian starts a server when its package is installed; only the program is needed here.
 *
 * @param {() => Promise<void>} work
 */
async function withoutDaemons(work) {
  if (existsSync(POLICY)) {
    await work()
    return
  }
  writeFileSync(POLICY, '#!/bin/sh\nexit 101\n', { mode: 0o755 })
  try {
    await work()
  } finally {
    rmSync(POLICY, { force: true })
  }
}
