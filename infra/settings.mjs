// Writes the settings of both services, as `settings` in their config.ts describes them, into every file that lists them.
// `pnpm settings` updates the files; `pnpm settings --check` fails if one of them is out of date.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isSecret } from '../packages/service-kit/src/config/env.ts'
import { settings as tracker } from '../services/tracker/src/config.ts'
import { settings as vault } from '../services/vault/src/config.ts'

/** @typedef {string | number | boolean | readonly unknown[]} Value */
/** @typedef {Parameters<typeof isSecret>[0] & { meta(): Record<string, unknown> | undefined, safeParse(value: unknown): { success: boolean, data?: Value | undefined } }} Schema */
/** @typedef {{ name: string, group: string, description: string, isRequired: boolean, isSecret: boolean, fallback: string }} Setting */

const root = join(import.meta.dirname, '..')
/** @type {Record<string, readonly Setting[]>} */
const services = { vault: settingsOf(vault), tracker: settingsOf(tracker) }
/** Set by the image. */
const NOT_IN_COMPOSE = /^(HOST|PORT|REVISION)$/

const outdated = [...generate()].filter(([file, text]) => text !== readText(file))
if (!process.argv.includes('--check')) for (const [file, text] of outdated) writeFileSync(join(root, file), text)
else if (outdated.length > 0) {
  process.stderr.write(`out of date, run pnpm settings: ${outdated.map(([file]) => file).join(', ')}\n`)
  process.exitCode = 1
}

/** @returns {Generator<readonly [file: string, text: string]>} */
function* generate() {
  for (const [service, all] of Object.entries(services)) {
    const readme = `services/${service}/README.md`
    yield [
      readme,
      readText(readme).replace(
        /(?<=<!-- settings -->\n)[^]*(?=<!-- \/settings -->)/,
        () => `\n${wrapped(filesOf(all), '')}\n${byGroup(all).map(table).join('\n')}\n`,
      ),
    ]
  }
  yield [
    'docker-compose.yml',
    withBlocks('docker-compose.yml', ({ name }, indent) => `${indent}${name}: \${${name}:-}\n`),
  ]
  yield [
    '.env.example',
    withBlocks('.env.example', ({ name, description, fallback }) => {
      const text = fallback ? `${description} Default: ${fallback}.` : description
      return `${wrapped(text, '# ')}${name}=\n`
    }),
  ]
}

/**
 * Fills the blocks between `# <settings: service>` and `# </settings>`. A block may be limited to one group:
 * `# <settings: service, group>`. Required settings, and those that the file sets outside its blocks, are left out.
 *
 * @param {string} file
 * @param {(setting: Setting, indent: string) => string} write
 */
function withBlocks(file, write) {
  const blocks = /(?<=^( *)# <settings: (\w+)(?:, (\w+))?>\n)[^]*?(?=^ *# <\/settings>$)/gm
  const text = readText(file)
  const separate = [...text.matchAll(blocks)].map(([, , , group]) => group)
  const own = new Set([...text.replaceAll(blocks, '').matchAll(/^ *([A-Z_]+)[:=]/gm)].map(([, name]) => name))
  return text.replaceAll(
    blocks,
    (_block, /** @type {string} */ indent, /** @type {string} */ service, /** @type {string | undefined} */ only) =>
      (services[service] ?? [])
        .filter(({ group }) => (only === undefined ? !separate.includes(group) : group === only))
        .filter(({ name, isRequired }) => !isRequired && !own.has(name) && !NOT_IN_COMPOSE.test(name))
        .map((setting) => write(setting, indent))
        .join(''),
  )
}

/** How each secret can be in a file. @param {readonly Setting[]} all */
function filesOf(all) {
  const names = [...all.filter((setting) => setting.isSecret).map(({ name }) => name), 'MIGRATION_DATABASE_URL']
  const secrets = names.map((name) => `\`${name}\``).join(', ')
  return (
    'Each secret can also be read from a file: `DATABASE_URL_FILE=/run/secrets/database` instead of `DATABASE_URL`. ' +
    `Secrets are ${secrets} and \`PROVISION_DATABASE_URL\`.`
  )
}

/** A text in lines, each with this prefix. @param {string} text @param {string} prefix */
function wrapped(text, prefix) {
  const lines = text.split(' ').reduce((/** @type {string[]} */ before, word) => {
    const line = before.at(-1)
    if (line === undefined || line.length + word.length > 118) return [...before, `${prefix}${word}`]
    return [...before.slice(0, -1), `${line} ${word}`]
  }, [])
  return `${lines.join('\n')}\n`
}

/** A table for a README. @param {readonly [string, readonly Setting[]]} group */
function table([group, some]) {
  const rows = some.map(({ name, description, isRequired, fallback }) => {
    const value = isRequired ? 'required' : fallback && `\`${fallback}\``
    return `| \`${name}\` | ${value} | ${description} |\n`
  })
  return `**${group}**\n\n| Variable | Default | Description |\n|---|---|---|\n${rows.join('')}`
}

/** @param {readonly Setting[]} all @returns {[string, Setting[]][]} */
function byGroup(all) {
  const groups = [...new Set(all.map(({ group }) => group))]
  return groups.map((group) => [group, all.filter((setting) => setting.group === group)])
}

/** @param {{ shape: Record<string, Schema> }} schema @returns {Setting[]} */
function settingsOf({ shape }) {
  return Object.entries(shape).map(([name, setting]) => {
    const { description, group } = setting.meta() ?? {}
    if (typeof description !== 'string' || typeof group !== 'string')
      throw new Error(`${name} has no description or no group`)
    const { success, data } = setting.safeParse(undefined)
    return {
      name,
      group,
      description,
      isRequired: !success,
      isSecret: isSecret(setting),
      fallback: isSecret(setting) ? '' : [data ?? []].flat().join(','),
    }
  })
}

/** @param {string} file */
function readText(file) {
  return readFileSync(join(root, file), 'utf8')
}
