import { capture, Fault, findProgram } from './command.mjs'

/** Debian's packages of programs that have another name. @type {Readonly<Record<string, string>>} */
const PACKAGES = {
  aria2c: 'aria2',
  go: 'golang-go',
  promtool: 'prometheus',
  'python-dotenv': 'python3-dotenv',
  strip: 'binutils',
  'transmission-show': 'transmission-cli',
}

/** Programs that can be used instead of another one. @type {Readonly<Record<string, readonly string[]>>} */
const ALTERNATIVES = {
  'redis-server': ['valkey-server'],
  'chromium-headless-shell': ['chromium', 'chromium-browser', 'google-chrome'],
}

/** Debian starts a server when its package is installed. Only the program is needed, so policy-rc.d forbids the start. */
const INSTALL = `
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  trap 'rm -f "$policy"' EXIT
  printf '#!/bin/sh\\nexit 101\\n' >"$policy" && chmod 755 "$policy"
fi
export DEBIAN_FRONTEND=noninteractive NEEDRESTART_MODE=l
install() { apt-get -o Acquire::Retries=3 -o DPkg::Lock::Timeout=300 install --yes --no-install-recommends "$@"; }
install "$@" || { apt-get update && install "$@"; }`

/**
 * Finds a program, and installs its Debian package if it is missing: as root, and in CI with sudo.
 *
 * @param {string} name
 * @param {{ debianPackage?: string, otherwise?: string }} [options] `otherwise` names other ways to get it
 * @returns {Promise<string>} its path
 * @throws {Fault} naming the package, if it cannot be installed
 */
export async function requireProgram(name, { debianPackage = PACKAGES[name] ?? name, otherwise = '' } = {}) {
  const found = find(name)
  if (found !== undefined) return found
  await installPackages([debianPackage], `${name} is not installed: sudo apt-get install ${debianPackage}${otherwise}.`)
  const installed = find(name)
  if (installed === undefined) throw new Fault(`${debianPackage} was installed but does not contain ${name}.`)
  return installed
}

/**
 * Installs the Debian packages of all missing programs in one go.
 *
 * @param {readonly string[]} names
 * @throws {Fault} naming the packages, if they cannot be installed
 */
export async function requirePrograms(names) {
  const packages = names.filter((name) => find(name) === undefined).map((name) => PACKAGES[name] ?? name)
  if (packages.length > 0) await installPackages(packages, `Not installed: sudo apt-get install ${packages.join(' ')}.`)
}

/** @param {string} name */
function find(name) {
  return [name, ...(ALTERNATIVES[name] ?? [])].map((each) => findProgram(each)).find(Boolean)
}

/**
 * Installs Debian packages. Other processes that install some at the same time wait for each other.
 *
 * @param {readonly string[]} names
 * @param {string} otherwise the message of the fault on machines where this process may not install packages
 */
export async function installPackages(names, otherwise) {
  const sudo = process.getuid?.() === 0 ? [] : ['sudo', '--non-interactive']
  const mayInstall = sudo.length === 0 || process.env['CI'] === 'true'
  if (!mayInstall || findProgram('apt-get') === undefined) throw new Fault(otherwise)
  console.error(`Installing ${names.join(', ')} …`)
  const command = [...sudo, 'flock', '/var/lib/dpkg', 'sh', '-c', INSTALL, 'sh', ...names]
  const { code, output } = await capture('env', command)
  if (code !== 0) throw new Fault(`apt-get could not install ${names.join(', ')}\n\n${output.trimEnd()}`)
}
