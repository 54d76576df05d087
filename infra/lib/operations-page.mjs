/**
 * A code block of docs/operations.md: `title` is its first command, without a comment.
 *
 * @typedef {{ language: string, title: string, text: string, line: number }} Block
 */

/**
 * The code blocks of a page in Markdown, in their order.
 *
 * @param {string} page
 * @returns {Block[]}
 */
export function blocksOf(page) {
  return [...page.matchAll(/^( *)```(\w*)\n([^]*?)^\1```$/gm)].map(
    ([all, indent = '', language = '', indented = '']) => {
      const text = indented.replaceAll(new RegExp(`^${indent}`, 'gm'), '')
      const title = text.split('\n').find((each) => each !== 'umask 077') ?? ''
      const line = page.slice(0, page.indexOf(all)).split('\n').length
      return { language, title: title.replace(/ {2,}#.*/, ''), text, line }
    },
  )
}

/**
 * What a page calls a command within a sentence or a table: code that begins like one, each once.
 *
 * @param {string} page
 */
export function commandsInSentences(page) {
  const sentences = page.replaceAll(/^ *```[^]*?^ *```$/gm, '')
  const spans = [...sentences.matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code)
  const isCommand = /^(?:docker|docker-compose|openssl|curl|chmod|nginx|git|node|psql|infra\/[\w-]+) \S/
  return [...new Set(spans.filter((code) => isCommand.test(code)))]
}

/**
 * What of the page is not carried out, and what is carried out otherwise, with the reason. Blocks go by their title, commands
 * in sentences by themselves.
 *
 * @type {Readonly<Record<string, string>>}
 */
export const NOT_RUN = {
  '# Both services behind nginx: HTTPS, and WebSockets on the addresses of the tracker. It goes into /etc/nginx/conf.d, and':
    'a configuration, which services/tracker/tests/behind-nginx.test.ts runs',
  'git pull': 'fetches another release, and a clone may have no remote',
  'docker compose pull postgres redis': 'fetches images, and there may be no registry',
  'docker system df -v': 'shows the disk of this machine, and changes nothing',
  'nginx -s reload':
    'the proxy is not among the containers; services/tracker/tests/behind-nginx-restart.test.ts does it',
  "docker inspect --format '{{.RestartCount}}'": 'takes the id of a container that restarted',
  'curl https://tracker.example.org/announce': 'the address of another tracker',
  'docker compose logs vault-migrate tracker-migrate': 'shows what was logged, and changes nothing',
  'docker compose logs redis': 'shows what was logged, and changes nothing',
  'docker system df': 'shows the disk of this machine, and changes nothing',
  'docker compose exec -T redis redis-cli slowlog get 10': 'shows what was slow, and changes nothing',
  'chmod go+rX infra infra/postgres-init.sh': 'for a clone that was made with another umask',
  'docker compose build --build-arg NODE_IMAGE=…': 'for a network with certificates of its own',
}

/**
 * Parts of blocks that are carried out with something else in their place.
 *
 * @type {readonly (readonly [from: string, to: string, reason: string])[]}
 */
export const REPLACED = [
  ['infra/make-env https://tracker.example.org', 'infra/make-env', 'a trial on localhost'],
  ['echo postgres:18', 'echo "${POSTGRES_IMAGE:-postgres:17}"', 'the major version that the other blocks run'],
]

/** A block as it is carried out, with Compose as it is called here. @param {string} text @param {string} compose */
export function asRunHere(text, compose) {
  const replaced = REPLACED.reduce((before, [from, to]) => before.replaceAll(from, to), text)
  return replaced.replaceAll('docker compose', compose)
}
