import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import react from '@vitejs/plugin-react'

const OUT = 'dist'
/** All libraries but the one that draws charts, and the one that makes keys where the browser cannot. */
const LIBRARIES = /[\\/]node_modules[\\/](?!.*(?:uplot|tweetnacl))/
/** Smaller files are not worth a header. */
const MIN_BYTES = 512
const EARLY_THEME = fileURLToPath(new URL('early-theme.js', import.meta.url))

/**
 * How Vite builds a web application that `packages/rest` serves: hashed files, compressed beside themselves, under a policy
 * that lets nothing inline in.
 *
 * @param {{ root: string, base?: string }} options `base` is the path that the application is served below, with slashes
 *   around it
 * @returns {import('vite').UserConfig}
 */
export function webApplicationBuild({ root, base = '/' }) {
  return {
    root,
    base,
    plugins: [react(), earlyTheme(base), precompress(root)],
    resolve: { conditions: ['source', 'module', 'browser', 'import', 'default'] },
    build: {
      outDir: OUT,
      target: 'es2023',
      // A strict policy lets no inline script in, and the browsers of this target need none.
      modulePreload: { polyfill: false },
      assetsInlineLimit: 0,
      reportCompressedSize: false,
      rolldownOptions: {
        output: {
          // What every page needs of libraries is one file, which stays in the browser when the application changes.
          codeSplitting: { groups: [{ name: 'libraries', test: LIBRARIES }] },
        },
      },
    },
  }
}

/**
 * Writes each text beside itself, compressed as well as it gets: the service sends it as it is.
 *
 * @param {string} root
 * @returns {import('vite').Plugin}
 */
function precompress(root) {
  return {
    name: 'precompress',
    apply: 'build',
    closeBundle() {
      const folder = join(root, OUT)
      for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
        if (!/\.(?:js|css|html|svg)$/.test(name)) continue
        const file = join(folder, name)
        const bytes = readFileSync(file)
        if (bytes.length < MIN_BYTES) continue
        writeFileSync(`${file}.br`, brotliCompressSync(bytes))
        writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }))
      }
      // The service reads a build anew when the page is newer, so it has to be the last that is written.
      const now = new Date()
      utimesSync(join(folder, 'index.html'), now, now)
    },
  }
}

/**
 * Puts the script that shows the remembered theme in front of everything else. It is plain and hashed: a module would run
 * after the first paint, and the policy lets no inline script in.
 *
 * @param {string} base
 * @returns {import('vite').Plugin}
 */
function earlyTheme(base) {
  const source = readFileSync(EARLY_THEME, 'utf8')
  const digest = createHash('sha256').update(source).digest('base64url').slice(0, 8)
  const fileName = `assets/theme-${digest}.js`
  return {
    name: 'early-theme',
    apply: 'build',
    generateBundle() {
      this.emitFile({ type: 'asset', fileName, source })
    },
    transformIndexHtml: () => [{ tag: 'script', attrs: { src: `${base}${fileName}` }, injectTo: 'head-prepend' }],
  }
}
