import { readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { defineConfig } from 'vitepress'

const DOCS = join(import.meta.dirname, '..')
const MANIFEST = join(DOCS, '../packages/vault-client/package.json')
const { repository } = JSON.parse(readFileSync(MANIFEST, 'utf8')) as { repository: { url: string } }
const SOURCE = repository.url.replace(/^git\+|\.git$/g, '')

const decisions = readdirSync(join(DOCS, 'adr')).map((file) => ({
  text: /^# (.*)$/m.exec(readFileSync(join(DOCS, 'adr', file), 'utf8'))?.[1],
  link: `/adr/${file.replace(/\.md$/, '')}`,
}))

/** A link to a file outside this folder leads to the repository; other dead links fail the build. */
function toRepository(href: string, page: string): string {
  if (/^[a-z]+:|^[#/]/.test(href)) return href
  const path = posix.join('docs', posix.dirname(page), href)
  return path.startsWith('docs/') ? href : `${SOURCE}/blob/main/${path}`
}

export default defineConfig({
  title: 'Vault and Tracker',
  description: 'A secrets vault and a private BitTorrent tracker',
  // The path of the project's pages at GitHub.
  base: `/${posix.basename(SOURCE)}/`,
  cleanUrls: true,
  markdown: {
    config: (markdown) => {
      markdown.core.ruler.push('links-to-repository', (state) => {
        const { relativePath } = state.env as { relativePath: string }
        for (const token of state.tokens.flatMap(({ children }) => children ?? [])) {
          const href = token.type === 'link_open' ? token.attrGet('href') : null
          if (href !== null) token.attrSet('href', toRepository(href, relativePath))
        }
      })
    },
  },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    socialLinks: [{ icon: 'github', link: SOURCE }],
    nav: [
      { text: 'Vault', link: '/guide-vault' },
      { text: 'Tracker', link: '/guide-tracker' },
      { text: 'Operations', link: '/operations' },
    ],
    sidebar: [
      {
        text: 'Guides',
        items: [
          { text: 'Vault', link: '/guide-vault' },
          { text: 'Tracker', link: '/guide-tracker' },
          { text: 'Operations', link: '/operations' },
          { text: 'Upgrade', link: '/upgrade' },
          { text: 'Screenshots', link: '/screenshots' },
        ],
      },
      {
        text: 'Reference',
        items: [
          { text: 'Compatibility', link: '/compatibility' },
          { text: 'Signed requests', link: '/signing' },
          { text: 'Announces', link: '/tracker-announce' },
          { text: 'Threat model', link: '/threat-model' },
          { text: 'Performance', link: '/performance' },
        ],
      },
      { text: 'Decisions', collapsed: true, items: decisions },
    ],
  },
})
