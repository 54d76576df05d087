#!/usr/bin/env node
import { runVaultCommand } from './commands.ts'

const { argv, env, stdin, stdout, stderr } = process
process.exitCode = await runVaultCommand({ args: argv.slice(2), env, stdin, stdout, stderr })
