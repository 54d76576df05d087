import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from '../../packages/dev-env/src/processes/command.mjs'
import { bundleCommand } from './bundle.mjs'

const POSTJECT = createRequire(import.meta.url).resolve('postject/dist/cli.js')
/** Node looks for this text, and replaces its last character in memory once a program is injected. */
const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2'
const OS = { linux: 'linux', darwin: 'macos' }
const ARCHITECTURES = { x64: 'amd64', arm64: 'arm64' }

/** The name of the executable for this platform, such as `vault-linux-amd64`. */
function executableName() {
  const { platform, arch } = process
  if ((platform !== 'linux' && platform !== 'darwin') || (arch !== 'x64' && arch !== 'arm64'))
    throw new Error(`There is no executable for ${platform} on ${arch}.`)
  return `vault-${OS[platform]}-${ARCHITECTURES[arch]}`
}

/**
 * Builds the `vault` command as one executable file: the Node that runs this, without symbols, with the command in it.
 *
 * @param {string} folder
 * @param {string} version
 * @returns {Promise<string>} the path of the file
 */
export async function buildExecutable(folder, version) {
  const parts = mkdtempSync(join(tmpdir(), 'vault-executable-'))
  try {
    const [main, output, config] = ['vault.cjs', 'vault.blob', 'sea.json'].map((name) => join(parts, name))
    if (main === undefined || output === undefined || config === undefined) throw new Error('three paths were expected')
    await bundleCommand(main, version)
    writeFileSync(config, JSON.stringify({ main, output, disableExperimentalSEAWarning: true, useCodeCache: true }))
    await run(process.execPath, ['--experimental-sea-config', config])

    const file = join(folder, executableName())
    mkdirSync(folder, { recursive: true })
    copyFileSync(process.execPath, file)
    chmodSync(file, 0o755)
    const isMac = process.platform === 'darwin'
    // Both would fail after the injection, which moves the sections of the file.
    if (isMac) await run('codesign', ['--remove-signature', file])
    await run('strip', isMac ? ['-x', file] : [file])
    const segment = isMac ? ['--macho-segment-name', 'NODE_SEA'] : []
    await run(process.execPath, [POSTJECT, file, 'NODE_SEA_BLOB', output, '--sentinel-fuse', FUSE, ...segment])
    // macOS starts no file without a signature. This one names no author.
    if (isMac) await run('codesign', ['--sign', '-', file])
    return file
  } finally {
    rmSync(parts, { recursive: true })
  }
}
