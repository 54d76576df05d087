// Signs the checksums in the folder `release` and creates the GitHub release with all its files, as a draft until it is
// complete. Can be repeated.
//
//   node infra/release/publish.mjs      with the variables of a workflow, GH_TOKEN, gh and cosign
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { capture, Fault } from '../../packages/dev-env/src/processes/command.mjs'
import { ASSETS, main, notesOf, shown, variable } from '../lib/release.mjs'
import { currentVersion } from '../lib/version.mjs'
import { ROOT } from '../lib/workspace.mjs'

await main(async () => {
  const version = currentVersion()
  const tag = `v${version}`
  const repository = `${variable('GITHUB_SERVER_URL')}/${variable('GITHUB_REPOSITORY')}`
  const notes = notesOf(readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8'), version, repository)
  if (notes === '') throw new Fault(`CHANGELOG.md has no section for ${version}.`)

  const sums = join(ASSETS, 'SHA256SUMS')
  await shown('cosign', ['sign-blob', '--yes', '--bundle', `${sums}.sigstore.json`, sums])
  const folder = mkdtempSync(join(tmpdir(), 'release-'))
  const file = join(folder, 'notes.md')
  writeFileSync(file, notes)
  const { code } = await capture('gh', ['release', 'view', tag])
  if (code !== 0)
    await shown('gh', ['release', 'create', tag, '--draft', '--verify-tag', '--title', version, '--notes-file', file])
  const files = readdirSync(ASSETS).map((name) => join(ASSETS, name))
  await shown('gh', ['release', 'upload', tag, '--clobber', ...files])
  await shown('gh', ['release', 'edit', tag, '--draft=false', `--prerelease=${version.includes('-')}`])
  rmSync(folder, { recursive: true })
})
