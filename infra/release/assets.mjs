// Completes the files that are attached to a release: adds docker-compose.yml, env.example and checksums to the executables
// in the folder `release`.
//
//   GITHUB_REPOSITORY=owner/name node infra/release/assets.mjs
import { createHash } from 'node:crypto'
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { capture, Fault } from '../../packages/dev-env/src/processes/command.mjs'
import { ASSETS, main } from '../lib/release.mjs'
import { ROOT } from '../lib/workspace.mjs'

const SUMS = 'SHA256SUMS'

await main(async () => {
  mkdirSync(ASSETS, { recursive: true })
  const { code, stdout, output } = await capture(process.execPath, [join(ROOT, 'infra/release/compose.mjs')])
  if (code !== 0) throw new Fault(output)
  writeFileSync(join(ASSETS, 'docker-compose.yml'), stdout)
  // GitHub renames files that begin with a dot.
  copyFileSync(join(ROOT, '.env.example'), join(ASSETS, 'env.example'))
  const files = readdirSync(ASSETS).filter((name) => !name.startsWith(SUMS))
  const sums = files.map((name) => {
    const hash = createHash('sha256').update(readFileSync(join(ASSETS, name)))
    return `${hash.digest('hex')}  ${name}\n`
  })
  writeFileSync(join(ASSETS, SUMS), sums.join(''))
})
