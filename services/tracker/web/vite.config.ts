import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

const OUT = 'dist'
/** All libraries but the one that draws charts. */
const LIBRARIES = /[\\/]node_modules[\\/](?!.*uplot)/
/** Smaller files are not worth a header. */
const MIN_BYTES = 512

/** Writes each text beside itself, compressed as well as it gets: the tracker sends it as it is. */
function precompress(): Plugin {
  return {
    name: 'precompress',
    apply: 'build',
    closeBundle() {
      const folder = join(import.meta.dirname, OUT)
      for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
        if (!/\.(?:js|css|html|svg)$/.test(name)) continue
        const file = join(folder, name)
        const bytes = readFileSync(file)
        if (bytes.length < MIN_BYTES) continue
        writeFileSync(`${file}.br`, brotliCompressSync(bytes))
        writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }))
      }
      // The tracker reads a build anew when the page is newer, so it has to be the last that is written.
      const now = new Date()
      utimesSync(join(folder, 'index.html'), now, now)
    },
  }
}

/**
 * Puts the script that shows the remembered theme in front of everything else. It is plain and hashed: a module would run
 * after the first paint, and the policy lets no inline script in.
 */
function earlyTheme(): Plugin {
  const source = readFileSync(join(import.meta.dirname, 'src/early-theme.js'), 'utf8')
  const digest = createHash('sha256').update(source).digest('base64url').slice(0, 8)
  const fileName = `assets/theme-${digest}.js`
  return {
    name: 'early-theme',
    apply: 'build',
    generateBundle() {
      this.emitFile({ type: 'asset', fileName, source })
    },
    transformIndexHtml: () => [{ tag: 'script', attrs: { src: `/${fileName}` }, injectTo: 'head-prepend' }],
  }
}

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), earlyTheme(), precompress()],
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
})
