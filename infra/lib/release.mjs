import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { capture, Fault } from '../../packages/dev-env/src/processes/command.mjs'
import { ROOT } from './workspace.mjs'

/** The folder of the files that are attached to a release. */
export const ASSETS = 'release'

/** A variable that GitHub sets in workflows. @param {string} name @returns {string} */
export function variable(name) {
  const value = process.env[name]
  if (!value) throw new Fault(`${name} is not set. GitHub sets it in workflows.`)
  return value
}

/** The names of the released images: the targets of infra/Dockerfile that have a title. */
export function imageNames() {
  const text = readFileSync(join(ROOT, 'infra/Dockerfile'), 'utf8')
  const titles = [...text.matchAll(/^LABEL org\.opencontainers\.image\.title="([^"]+)"/gm)].map(([, name = '']) => name)
  return titles.filter((name) => new RegExp(`^FROM \\S+ AS ${name}$`, 'm').test(text))
}

/** The name of an image in the registry, without a tag. @param {string} image */
export function imageReference(image) {
  return `ghcr.io/${variable('GITHUB_REPOSITORY').toLowerCase()}/${image}`
}

/** Runs a command whose output is shown, and returns its standard output. @param {string} command @param {readonly string[]} args @param {string} [stdin] */
export async function shown(command, args, stdin) {
  console.log(`$ ${[command, ...args].join(' ')}`)
  const { code, stdout } = await capture(command, args, { isShown: true, ...(stdin === undefined ? {} : { stdin }) })
  if (code !== 0) throw new Fault(`${command} failed with exit code ${code}.`)
  return stdout.trim()
}

/**
 * The section of a version in the changelog, with links that work outside the repository.
 *
 * @param {string} changelog
 * @param {string} version
 * @param {string} repository such as `https://github.com/owner/name`
 * @returns {string} empty if there is none
 */
export function notesOf(changelog, version, repository) {
  const sections = changelog.split(/^(?=## )/m)
  const section = sections.find((text) => new RegExp(`^## v?${version.replaceAll('.', '\\.')}(?![\\w.-])`).test(text))
  if (section === undefined) return ''
  const text = section.slice(section.indexOf('\n')).trim()
  return text.replaceAll(/\]\((?!https?:|#)([^)]+)\)/g, `](${repository}/blob/v${version}/$1)`)
}

/** Shows an error that has a remedy without its stack. @param {() => Promise<void> | void} work */
export async function main(work) {
  try {
    await work()
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    console.error(error.message)
    process.exitCode = 1
  }
}
