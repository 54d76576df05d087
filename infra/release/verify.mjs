// Checks that a tag may be released: it names the version, the changelog describes it, and CI has passed on main.
//
//   node infra/release/verify.mjs      with the variables of a workflow, and GITHUB_TOKEN
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Fault } from '../../packages/dev-env/src/processes/command.mjs'
import { main, notesOf, variable } from '../lib/release.mjs'
import { currentVersion } from '../lib/version.mjs'
import { ROOT } from '../lib/workspace.mjs'

await main(async () => {
  const [tag, version] = [variable('GITHUB_REF_NAME'), currentVersion()]
  if (tag !== `v${version}`) throw new Fault(`The tag is ${tag}, but package.json has the version ${version}.`)
  if (notesOf(readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8'), version, '') === '')
    throw new Fault(`CHANGELOG.md has no section for ${version}.`)

  const runs = `${variable('GITHUB_API_URL')}/repos/${variable('GITHUB_REPOSITORY')}/actions/workflows/ci.yml/runs`
  const query = new URLSearchParams({
    head_sha: variable('GITHUB_SHA'),
    branch: 'main',
    event: 'push',
    status: 'success',
  })
  const response = await fetch(`${runs}?${query.toString()}`, {
    headers: { Accept: 'application/vnd.github+json', Authorization: `Bearer ${variable('GITHUB_TOKEN')}` },
  })
  if (!response.ok) throw new Fault(`GitHub answered ${response.status} to the request for runs of CI.`)
  const { total_count: passed } = /** @type {{ total_count: number }} */ (await response.json())
  if (passed === 0) throw new Fault('CI has not passed for this commit on main. Wait for it, then run this again.')
  console.log(`${tag} can be released.`)
})
