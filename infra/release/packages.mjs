// Publishes the npm packages that are not published yet. In a workflow, npm exchanges the ID token of the job for the
// permission to publish, and adds the provenance.
//
//   node infra/release/packages.mjs [--dry-run]
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { capture } from '../../packages/dev-env/src/processes/command.mjs'
import { main, shown } from '../lib/release.mjs'
import { currentVersion } from '../lib/version.mjs'
import { ROOT } from '../lib/workspace.mjs'

const PACKAGES = ['http-signatures', 'vault-client']

await main(async () => {
  const options = process.argv.slice(2)
  const version = currentVersion()
  /** @type {{ packageManager: string }} */
  const { packageManager } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const folder = mkdtempSync(join(tmpdir(), 'packages-'))
  for (const name of PACKAGES) {
    const published = await capture('npm', ['view', `@vault-and-tracker/${name}@${version}`, 'version'])
    if (published.code === 0 && published.stdout.trim() === version) {
      console.log(`${name} ${version} is published already.`)
      continue
    }
    const tarballs = join(folder, name)
    const pack = ['--dir', join(ROOT, 'packages', name), 'pack', '--pack-destination', tarballs]
    await shown('npx', ['--yes', packageManager, ...pack])
    const [file = ''] = readdirSync(tarballs)
    // Without a tag, an early version would be installed by default.
    const tag = version.includes('-') ? 'next' : 'latest'
    const provenance = options.includes('--dry-run') ? [] : ['--provenance']
    await shown('npm', ['publish', join(tarballs, file), '--access', 'public', '--tag', tag, ...provenance, ...options])
  }
  rmSync(folder, { recursive: true })
})
