#!/usr/bin/env node
import { readFileSync } from 'node:fs'
import { runVaultCommand } from './commands/program.ts'
import { askOn } from './commands/prompt.ts'

const { argv, env, stdin, stdout, stderr } = process
const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }
const ask = askOn(stdin, stderr)
process.exitCode = await runVaultCommand({ args: argv.slice(2), env, stdin, stdout, stderr, ask }, version)
