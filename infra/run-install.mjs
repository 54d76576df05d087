// Installs both services like a newcomer, with Docker: images of this version, an empty folder, the command `setup`, and only
// the files that it writes. Creates the first administrator in Chromium, fetches a secret with the command as one file,
// transfers a torrent, makes a backup, installs again over the data, and removes everything.
//
//   node infra/run-install.mjs      while no containers of the project run; IMAGES=built uses images that exist already
//
// Needs Docker with Compose (v2 or 1.29), Node, npm, aria2c and Chromium. The last line counts.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { capture, describeError, Fault } from '../packages/dev-env/src/processes/command.mjs'
import { buildExecutable } from './lib/executable.mjs'
import { createProgress } from './lib/progress.mjs'
import { installDependencies, loadCommands, ROOT } from './lib/workspace.mjs'

const TIMEOUT_MS = 20 * 60_000
const HEALTHY_MS = 120_000

/** @type {{ version: string }} */
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
const released = spawnSync(process.execPath, [join(ROOT, 'infra/release/compose.mjs')], { encoding: 'utf8' }).stdout
const [, prefix = ''] = /IMAGE_PREFIX:-([^}]*)/.exec(released) ?? []
const hasPlugin = spawnSync('docker', ['compose', 'version']).status === 0
const folder = mkdtempSync(join(tmpdir(), 'install-'))
const cli = mkdtempSync(join(tmpdir(), 'install-cli-'))
const step = createProgress()
const counts = { passed: 0, failed: 0 }

/** Runs a script up to the first command that fails. @param {string} script @param {string} [cwd] */
async function shell(script, cwd = folder) {
  const text = hasPlugin ? script : script.replaceAll('docker compose', 'docker-compose').replaceAll(' --wait', '')
  const { code, output, stdout } = await capture('sh', ['-euc', text], { cwd, timeoutMs: TIMEOUT_MS })
  if (code !== 0) throw new Fault(`${text}\nended with ${code}:\n\n${output}`)
  return stdout
}

/** @param {string} label @param {() => Promise<unknown>} work */
async function attempt(label, work) {
  await step(label, async () => {
    await work()
  })
  counts.passed += 1
}

/** What `docker inspect` prints about the containers of the project. */
async function containers() {
  const all = await shell('docker inspect $(docker compose ps --quiet --all 2>/dev/null || docker compose ps --quiet)')
  /** @type {{ Name: string, State: { Status: string, ExitCode: number, Health?: { Status: string } }, HostConfig: Record<string, unknown>, Mounts: { Type: string, Name: string }[] }[]} */
  const parsed = JSON.parse(all)
  return parsed
}

async function untilHealthy() {
  const deadline = Date.now() + HEALTHY_MS
  for (;;) {
    const waiting = (await containers()).filter(({ State }) =>
      State.Health === undefined
        ? State.Status !== 'exited' || State.ExitCode !== 0
        : State.Health.Status !== 'healthy',
    )
    if (waiting.length === 0) return
    if (Date.now() > deadline) throw new Fault(`Not healthy: ${waiting.map(({ Name }) => Name).join(', ')}`)
    await sleep(500)
  }
}

/** The files of the folder, with their contents. */
function written() {
  return Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]))
}

/** Opens the address from the log, and creates the first administrator with its code. */
async function createAdministrator() {
  const log = await shell('docker compose logs tracker')
  const [, code] = /"setupCode":"([^"]+)"/.exec(log) ?? []
  if (code === undefined) throw new Fault(`The log has no setup code:\n${log}`)
  const { launchChromium } = await loadCommands()
  const browser = await launchChromium()
  try {
    const page = await browser.newPage()
    await page.goto('http://localhost:6969/setup')
    await page.getByLabel('Setup code').fill(code)
    await page.getByLabel('Username').fill('newcomer')
    await page.getByLabel('Email').fill('newcomer@example.org')
    await page.getByLabel('Password', { exact: true }).fill('a long enough password')
    await page.getByRole('button', { name: 'Create administrator' }).click()
    await page.waitForURL('**/admin')
  } finally {
    await browser.close()
  }
}

const setup = `docker run --rm --user "$(id -u):$(id -g)" --volume "$PWD:/setup" ${prefix}/vault:${version} setup`

async function install() {
  const volumes = await shell('docker volume ls --quiet --filter name=vault-and-tracker_')
  if (volumes.trim() !== '') throw new Fault(`Volumes of the project exist already and are not touched:\n${volumes}`)
  await installDependencies(step)
  if (process.env['IMAGES'] !== 'built')
    for (const service of ['vault', 'tracker', 'backup'])
      await attempt(`image ${service}`, () =>
        shell(`docker build --file infra/Dockerfile --target ${service} --tag ${prefix}/${service}:${version} .`, ROOT),
      )
  await attempt('setup writes two files', async () => {
    await shell(setup)
    const names = Object.keys(written()).sort().join()
    if (names !== '.env,docker-compose.yml') throw new Fault(`It wrote ${names}.`)
    if (written()['docker-compose.yml'] !== released) throw new Fault('It wrote another docker-compose.yml.')
    const open = Object.keys(written()).filter((name) => (statSync(join(folder, name)).mode & 0o077) !== 0)
    if (open.length > 0) throw new Fault(`Others can read ${open.join()}.`)
  })
  try {
    await attempt('both services start', async () => {
      await shell('docker compose up --detach --wait')
      await untilHealthy()
    })
    await attempt('containers are hardened, and mount only volumes', async () => {
      for (const { Name, HostConfig, Mounts } of await containers()) {
        const { ReadonlyRootfs, PidsLimit, SecurityOpt } = HostConfig
        if (ReadonlyRootfs !== true || !PidsLimit || !JSON.stringify(SecurityOpt).includes('no-new-privileges'))
          throw new Fault(`${Name}: ${JSON.stringify({ ReadonlyRootfs, PidsLimit, SecurityOpt })}`)
        const others = Mounts.filter(
          (mount) => mount.Type !== 'volume' || !/_(?:postgres|redis)-data$/.test(mount.Name),
        )
        if (others.length > 0) throw new Fault(`${Name}: ${JSON.stringify(others)}`)
      }
    })
    await attempt('the first administrator is created in the browser, with the code from the log', createAdministrator)
    await attempt('the command as one file stores a secret and reads it', async () => {
      const vault = await buildExecutable(cli, version)
      const read = await shell(`vault() { ${vault} "$@"; }
        export VAULT_URL=http://localhost:4200 VAULT_PROJECT=newcomer VAULT_PRIVATE_KEY_FILE=${cli}/newcomer.key
        VAULT_ADMIN_TOKEN=$(sed -n 's/^ADMIN_TOKEN=//p' .env)
        export VAULT_ADMIN_TOKEN
        vault admin projects add newcomer --public-key "$(vault keygen --output "$VAULT_PRIVATE_KEY_FILE")" >&2
        printf %s hello | vault set GREETING >&2
        vault get GREETING`)
      if (read.trim() !== 'hello') throw new Fault(`It read ${read}.`)
    })
    await attempt('both services work', () => shell(`${join(ROOT, 'infra/smoke')} "$PWD"`))
    await attempt('the backup contains both databases and the keyring', async () => {
      const files = await shell(`umask 077
        docker compose run --rm -T --no-deps --entrypoint age-keygen backup >${cli}/backup.key
        export BACKUP_RECIPIENT="$(sed -n 's/^# public key: //p' ${cli}/backup.key)" COMPOSE_PROFILES=backup
        docker compose up --detach >&2
        docker compose exec -T backup backup >&2
        docker compose exec -T backup ls /backups`)
      for (const name of ['vault', 'tracker', 'keyring'])
        if (!files.includes(`${name}-`)) throw new Fault(`There is no backup of ${name}:\n${files}`)
      await shell('docker compose --profile backup rm --force --stop backup')
    })
    await attempt('a second installation keeps the data and the secrets', async () => {
      const before = written()
      const count = `docker compose exec -T postgres psql --username=postgres --dbname=vault --tuples-only --no-align \\
        --command='select count(*) from audit'`
      const entries = Number(await shell(count))
      await shell('docker compose down && rm docker-compose.yml')
      await shell(setup)
      if (JSON.stringify(written()) !== JSON.stringify(before)) throw new Fault('The files changed.')
      await shell('docker compose up --detach --wait')
      await untilHealthy()
      const kept = Number(await shell(count))
      if (entries === 0 || kept < entries) throw new Fault(`The audit log has ${kept} entries instead of ${entries}.`)
    })
  } finally {
    await shell('docker compose --profile backup down --volumes')
  }
}

await install().catch((/** @type {unknown} */ error) => {
  counts.failed += 1
  console.log(`\n${describeError(error)}`)
})
for (const used of [folder, cli]) rmSync(used, { recursive: true })
console.log(`\n${counts.passed} passed, ${counts.failed} failed`)
process.exitCode = counts.failed === 0 ? 0 : 1
