/**
 * A code block of docs/operations.md. Its title is its first command.
 *
 * @typedef {{ language: string, title: string, text: string, line: number }} Block
 */

/** Shell commands that depend on this machine, or on parts that a trial does not have. */
const NOT_RUN = /^(?:git pull|docker run --rm|docker compose pull|docker system df|docker compose logs)\b/

/** Parts of blocks that are replaced in a trial on localhost. @type {readonly (readonly [from: string, to: string])[]} */
const REPLACED = [
  ['infra/make-env https://tracker.example.org', 'infra/make-env'],
  ['echo postgres:19', 'echo "${POSTGRES_IMAGE:-postgres:18}"'],
]

/** The shell blocks of a page in Markdown that a trial runs. @param {string} page @returns {Block[]} */
export function blocksToRun(page) {
  return [...page.matchAll(/^( *)```(\w*)\n([^]*?)^\1```$/gm)]
    .map(([all, indent = '', language = '', indented = '']) => {
      const text = indented.replaceAll(new RegExp(`^${indent}`, 'gm'), '')
      const title = text.split('\n').find((each) => each !== 'umask 077') ?? ''
      const line = page.slice(0, page.indexOf(all)).split('\n').length
      return { language, title: title.replace(/ {2,}#.*/, ''), text, line }
    })
    .filter(({ language, title }) => language === 'sh' && !NOT_RUN.test(title))
}

/** The text of a block as a trial runs it. @param {string} text @param {string} compose the command of Compose */
export function inTrial(text, compose) {
  const replaced = REPLACED.reduce((before, [from, to]) => before.replaceAll(from, to), text)
  return replaced.replaceAll('docker compose', compose)
}
