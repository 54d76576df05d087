// Writes the docker-compose.yml of a release to standard output: the one of the repository, with the images of this version
// instead of `build`. The image of the vault contains it for the command `setup`; see infra/make-env.
//
//   GITHUB_REPOSITORY=owner/name node infra/release/compose.mjs
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../..')
/** @type {{ version: string }} */
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const source = readFileSync(join(root, 'docker-compose.yml'), 'utf8')

const { GITHUB_REPOSITORY } = process.env
const [, ofSource = ''] = /IMAGE_PREFIX:-([^}]*)/.exec(source) ?? []
const prefix = GITHUB_REPOSITORY ? `ghcr.io/${GITHUB_REPOSITORY.toLowerCase()}` : ofSource

process.stdout.write(
  source
    .replace(
      /^(?:#.*\n)+/,
      () => `# Both services ${version}, with Postgres and Valkey. This writes their secrets to .env:
#
#   docker run --rm --user "$(id -u):$(id -g)" --volume "$PWD:/setup" ${prefix}/vault:${version} setup https://tracker.example.org
#
# Then run \`docker compose up --detach --wait\`. The env.example of the release describes every variable.
`,
    )
    .replaceAll(/^ *(?:build: .*|# <.?settings.*>|# .*`pnpm settings`.*)\n/gm, '')
    .replaceAll('${IMAGE_TAG:-local}', version)
    .replaceAll(`IMAGE_PREFIX:-${ofSource}}`, `IMAGE_PREFIX:-${prefix}}`)
    .replaceAll(':?run infra/make-env}', ':?run setup}'),
)
