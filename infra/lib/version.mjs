import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT, workspaceFolders } from './workspace.mjs'

const VERSION = String.raw`\d+\.\d+\.\d+(?:-[a-z]+\.\d+)?`

/** The text before each version in a file. @param {string} before a regular expression */
const after = (before) => new RegExp(`(?<=${before})${VERSION}`, 'gm')

/**
 * The version is that of package.json. These files repeat it, because they are read without package.json.
 *
 * @param {string} root
 * @returns {readonly (readonly [file: string, version: RegExp])[]}
 */
function places(root) {
  const manifests = ['.', ...workspaceFolders(root)].map((folder) => `${folder}/package.json`)
  const documents = ['README.md', 'SECURITY.md', ...readdirSync(join(root, 'docs')).map((name) => `docs/${name}`)]
  return [
    ...manifests.map((file) => /** @type {const} */ ([file, after('^ {2}"version": "')])),
    ...documents
      .filter((file) => file.endsWith('.md'))
      .map((file) => /** @type {const} */ ([file, after('/(?:vault|tracker|vault-cli|backup):')])),
    ['services/tracker/openapi.json', after('^ {4}"version": "')],
    ['services/vault/openapi.json', after('^ {4}"version": "')],
    ['clients/python/pyproject.toml', after('^version = "')],
    ['examples/node-application/package.json', after('vault-client-')],
    ['examples/github-workflow/deploy.yml', after('vault-client@')],
    ['infra/Dockerfile', after('^ARG VERSION=')],
    ['infra/helm/Chart.yaml', after('^(?:appV|v)ersion: ')],
  ]
}

/** The version of the repository. */
export function currentVersion(root = ROOT) {
  /** @type {{ version: string }} */
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  return version
}

/** Each place that repeats the version. A file without it is listed with an empty one; only documents may have none. */
export function repeatedVersions(root = ROOT) {
  return places(root).flatMap(([file, pattern]) => {
    const found = [...readFileSync(join(root, file), 'utf8').matchAll(pattern)].map(([version]) => ({ file, version }))
    return found.length > 0 || file.endsWith('.md') ? found : [{ file, version: '' }]
  })
}

/** Sets the version everywhere. @param {string} version @throws {Error} if it is not a version */
export function setVersion(version, root = ROOT) {
  if (!new RegExp(`^${VERSION}$`).test(version))
    throw new Error(`${version} is not a version such as 1.2.3 or 1.2.3-rc.1.`)
  for (const [file, pattern] of places(root)) {
    const text = readFileSync(join(root, file), 'utf8')
    writeFileSync(join(root, file), text.replaceAll(pattern, version))
  }
}
