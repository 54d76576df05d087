// Builds the images of a release for this architecture, or publishes those of all architectures under the version.
//
//   node infra/release/images.mjs build       pushes them without a name, with SBOM and provenance; writes their digests
//   node infra/release/images.mjs publish     joins the digests of all architectures, and signs the results
//
// Needs the variables of a workflow, GITHUB_TOKEN, Docker with buildx and, to publish, cosign.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Fault } from '../../packages/dev-env/src/processes/command.mjs'
import { imageNames, imageReference, main, shown, variable } from '../lib/release.mjs'
import { currentVersion } from '../lib/version.mjs'
import { ROOT } from '../lib/workspace.mjs'

const DIGESTS = join(ROOT, 'digests')

await main(async () => {
  const [action] = process.argv.slice(2)
  if (action !== 'build' && action !== 'publish') throw new Fault('Choose build or publish.')
  const login = ['login', 'ghcr.io', '--username', variable('GITHUB_ACTOR'), '--password-stdin']
  await shown('docker', login, variable('GITHUB_TOKEN'))
  await (action === 'build' ? build() : publish())
})

async function build() {
  const repository = variable('GITHUB_REPOSITORY')
  const folder = mkdtempSync(join(tmpdir(), 'images-'))
  // The default builder writes no attestations.
  await shown('docker', ['buildx', 'create', '--driver', 'docker-container', '--use'])
  /** @type {Record<string, string>} */
  const digests = {}
  for (const image of imageNames()) {
    const metadata = join(folder, `${image}.json`)
    const labels = {
      revision: variable('GITHUB_SHA'),
      source: `${variable('GITHUB_SERVER_URL')}/${repository}`,
    }
    await shown('docker', [
      ...['buildx', 'build', '--file', join(ROOT, 'infra/Dockerfile'), '--target', image, '--pull'],
      ...['--build-arg', `REVISION=${labels.revision}`, '--build-arg', `GITHUB_REPOSITORY=${repository}`],
      ...['--label', `org.opencontainers.image.source=${labels.source}`],
      ...['--attest', 'type=sbom', '--attest', 'type=provenance,mode=max'],
      ...['--output', `type=image,name=${imageReference(image)},push-by-digest=true,name-canonical=true,push=true`],
      ...['--metadata-file', metadata, ROOT],
    ])
    digests[image] = digestIn(readFileSync(metadata, 'utf8'), 'containerimage.digest')
  }
  mkdirSync(DIGESTS, { recursive: true })
  writeFileSync(join(DIGESTS, `${process.arch}.json`), JSON.stringify(digests))
  rmSync(folder, { recursive: true })
}

async function publish() {
  const architectures = readdirSync(DIGESTS).map((file) => readFileSync(join(DIGESTS, file), 'utf8'))
  for (const image of imageNames()) {
    const reference = imageReference(image)
    const sources = architectures.map((digests) => `${reference}@${digestIn(digests, image)}`)
    if (sources.length < 2) throw new Fault(`There are images for ${sources.length} architectures instead of two.`)
    const tag = `${reference}:${currentVersion()}`
    await shown('docker', ['buildx', 'imagetools', 'create', '--tag', tag, ...sources])
    const manifest = await shown('docker', ['buildx', 'imagetools', 'inspect', tag, '--format', '{{json .Manifest}}'])
    await shown('cosign', ['sign', '--yes', `${reference}@${digestIn(manifest, 'digest')}`])
  }
}

/** The digest with a name in an object. @param {string} json @param {string} name */
function digestIn(json, name) {
  /** @type {Record<string, unknown>} */
  const { [name]: digest } = JSON.parse(json)
  if (typeof digest !== 'string' || !/^sha256:[0-9a-f]{64}$/.test(digest))
    throw new Fault(`The digest of an image was expected, not ${json}.`)
  return digest
}
