import { randomBytes } from 'node:crypto'
import { mkdir, open, realpath, rename, rm, stat, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { getSystemErrorMap } from 'node:util'
import { CommandError, type Terminal } from './terminal.ts'

/** A folder of the user (XDG Base Directory Specification), or undefined if the user has no home. */
export function folderOf(env: Terminal['env'], variable: string, inHome: string): string | undefined {
  if (env[variable]) return env[variable]
  try {
    return join(env['HOME'] || homedir(), inHome)
  } catch {
    // In a container, the user may not exist in /etc/passwd.
    return undefined
  }
}

/** Creates the private folder that contains a file. */
export async function makeFolderOf(file: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
}

/**
 * Atomically writes a file that only its owner can read. If the path is a symbolic link, its target is replaced.
 * Devices and pipes are written to.
 *
 * @throws CommandError
 */
export async function writePrivately(file: string, content: string | Uint8Array): Promise<void> {
  try {
    const present = await stat(file).catch(() => undefined)
    if (present?.isDirectory() === true) throw new CommandError(`cannot write ${file}: it is a folder`)
    if (present?.isFile() === false) await writeFile(file, content)
    else await replaceFile(present === undefined ? file : await realpath(file), content)
  } catch (error) {
    throw error instanceof CommandError ? error : new CommandError(`cannot write ${file}: ${reasonOf(error)}`)
  }
}

async function replaceFile(file: string, content: string | Uint8Array): Promise<void> {
  // The name is random, so that another user cannot prepare a symbolic link.
  const temporary = `${file}.${randomBytes(6).toString('hex')}.tmp`
  try {
    await writeFile(temporary, content, { mode: 0o600, flag: 'wx' })
    await rename(temporary, file)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
}

/**
 * Writes the result of `make` to a new file that only its owner can read. The file is created first, because `make` may
 * not be repeatable.
 *
 * @throws CommandError, including if the file exists, because it may be the only copy of a key
 */
export async function writeNew(file: string, make: () => Promise<string> | string): Promise<void> {
  try {
    const handle = await open(file, 'wx', 0o600)
    try {
      await handle.writeFile(await make())
    } catch (error) {
      await rm(file, { force: true })
      throw error
    } finally {
      await handle.close()
    }
  } catch (error) {
    const code = codeOf(error)
    if (code === 'EEXIST') throw new CommandError(`${file} already exists; keys are never overwritten`)
    throw /^E[A-Z]+$/.test(code) ? new CommandError(`cannot write ${file}: ${reasonOf(error)}`) : error
  }
}

/** The code of a system error. `instanceof` fails for errors of another realm. */
export function codeOf(error: unknown): string {
  const isObject = typeof error === 'object' && error !== null
  return isObject && 'code' in error && typeof error.code === 'string' ? error.code : 'unknown error'
}

/** The system's message for an error, such as "permission denied". */
export function reasonOf(error: unknown): string {
  const isNumbered = typeof error === 'object' && error !== null && 'errno' in error && typeof error.errno === 'number'
  return (isNumbered ? getSystemErrorMap().get(error.errno as number)?.[1] : undefined) ?? codeOf(error)
}

/** Locks are held while one small file is written. An older lock was left by a command that was killed. */
const LOCK_MS = 10_000

/**
 * Runs `work` while holding a lock on the file.
 *
 * @throws CommandError
 */
export async function withLock(file: string, work: () => Promise<void>): Promise<void> {
  const lock = `${file}.lock`
  await makeFolderOf(file).catch((error: unknown) => {
    throw new CommandError(`cannot write ${file}: ${reasonOf(error)}`)
  })
  while (!(await takes(lock))) await setTimeout(20)
  try {
    await work()
  } finally {
    await rm(lock, { force: true })
  }
}

async function takes(lock: string): Promise<boolean> {
  try {
    await (await open(lock, 'wx', 0o600)).close()
    return true
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw new CommandError(`cannot write ${lock}: ${reasonOf(error)}`)
    const held = await stat(lock).catch(() => undefined)
    if (held !== undefined && Date.now() - held.mtimeMs > LOCK_MS) await rm(lock, { force: true })
    return false
  }
}
