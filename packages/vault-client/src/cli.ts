#!/usr/bin/env node
import { readFileSync } from 'node:fs'

// An older Node would fail on an import with an unclear message, so everything else is imported after this check.
const { engines, version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  engines: { node: string }
  version: string
}
const [required, running] = [engines.node.replace(/^\D+/, ''), process.versions.node]
if (isOlder(running, required)) {
  process.stderr.write(`vault: Node ${required} or newer is required; this is ${running}\n`)
  process.exitCode = 1
} else {
  const { main } = await import('./commands/main.ts')
  await main(version)
}

function isOlder(one: string, least: string): boolean {
  const [a, b] = [one, least].map((text) => text.split('.').map(Number))
  const [major = 0, minor = 0] = a ?? []
  const [leastMajor = 0, leastMinor = 0] = b ?? []
  return major < leastMajor || (major === leastMajor && minor < leastMinor)
}
