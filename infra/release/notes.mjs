// Prints the notes of a release: the section of the version in CHANGELOG.md.
//
//   node infra/release/notes.mjs [version]
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Fault } from '../../packages/dev-env/src/processes/command.mjs'
import { main, notesOf, variable } from '../lib/release.mjs'
import { currentVersion } from '../lib/version.mjs'
import { ROOT } from '../lib/workspace.mjs'

await main(() => {
  const [version = currentVersion()] = process.argv.slice(2)
  const repository = `${variable('GITHUB_SERVER_URL')}/${variable('GITHUB_REPOSITORY')}`
  const notes = notesOf(readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8'), version, repository)
  if (notes === '') throw new Fault(`CHANGELOG.md has no section for ${version}.`)
  console.log(notes)
})
