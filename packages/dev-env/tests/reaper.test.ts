import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from '@jest/globals'
import { identityOf, isSameProcess } from '../src/processes/identity.mjs'
import { eventually } from '../src/testing/eventually.ts'

const owner = fileURLToPath(new URL('owner.mjs', import.meta.url))

describe('the reaper', () => {
  it('stops the children of an owner that was killed, one that ignores SIGTERM included, and deletes its folder', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'dev-env-reaped-'))
    const child = spawn(process.execPath, [owner, folder], { stdio: ['ignore', 'pipe', 'inherit'] })
    const [line] = (await once(child.stdout, 'data')) as [Buffer]
    const pids = JSON.parse(line.toString()) as number[]
    expect(pids.map((pid) => typeof identityOf(pid))).toEqual(['string', 'string', 'string'])
    child.kill('SIGKILL')
    await eventually(() => pids.every((pid) => identityOf(pid) === undefined))
    expect(existsSync(folder)).toBe(false)
  })
})

describe('identityOf', () => {
  it('distinguishes a process from a later one with the same pid', () => {
    const identity = identityOf(process.pid)
    expect(isSameProcess({ pid: process.pid, identity: identity ?? '' })).toBe(true)
    expect(isSameProcess({ pid: process.pid, identity: `${identity ?? ''}0` })).toBe(false)
  })

  it('identifies no process by a pid that is not in use', () => {
    expect(identityOf(2 ** 22 + 1)).toBeUndefined()
  })
})
