import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import react from '@vitejs/plugin-react'

const OUT = 'dist'
/** All libraries except those that only some pages load: for charts, keys, QR codes and Markdown. */
const LIBRARIES =
  /[\\/]node_modules[\\/](?!.*(?:uplot|tweetnacl|simplewebauthn|uqr|markdown-it|linkify-it|mdurl|uc\.micro|entities))/
/** Smaller files are not worth a header. */
const MIN_BYTES = 512
const EARLY_THEME = fileURLToPath(new URL('early-theme.js', import.meta.url))

/**
 * The Vite configuration of an application that `packages/rest` serves: hashed files with compressed copies, and nothing
 * inline, because the content security policy forbids it.
 *
 * @param {{ root: string, base?: string }} options `base` is the path of the application, with slashes around it
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
      // The policy forbids inline scripts, and browsers of this target need none.
      modulePreload: { polyfill: false },
      assetsInlineLimit: 0,
      reportCompressedSize: false,
      rolldownOptions: {
        output: {
          // One file for the libraries of every page, which stays cached when the application changes.
          codeSplitting: { groups: [{ name: 'libraries', test: LIBRARIES }] },
        },
      },
    },
  }
}

/**
 * Writes compressed copies of all text files, which the service sends as they are.
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
      // The service reloads a build when the page is newer, so the page must be the last file.
      const now = new Date()
      utimesSync(join(folder, 'index.html'), now, now)
    },
  }
}

/**
 * Adds the script that applies the remembered theme. A module would run after the first paint, and the policy forbids
 * inline scripts.
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
