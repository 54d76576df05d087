import { randomBytes } from 'node:crypto'
import {
  chownSync,
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { errorCode } from '@vault-and-tracker/service-kit/core/errors'
import { isKeyId, KeyringError } from './keyring.ts'
import { parseKeyringFile } from './local-keys.ts'

/** A parsed keyring file. It holds key material: never log it. */
type KeyringFile = { active: string; keys: Record<string, string> }

/**
 * Adds a new random key to a keyring file and leaves the active key as it is. A file that does not exist is created
 * with mode 0600 and this key as the active one.
 *
 * @returns whether the key was added; false when the file has a key with this id
 * @throws KeyringError when the id is malformed or the file cannot be changed
 */
export function addToKeyringFile(path: string, id: string): boolean {
  if (!isKeyId(id)) throw new KeyringError(['a key id must be 1 to 64 letters, digits, dots, dashes and underscores'])
  return change(path, (file) => {
    if (file !== undefined && Object.hasOwn(file.keys, id)) return undefined
    const key = randomBytes(32).toString('base64')
    return { active: file?.active ?? id, keys: { ...file?.keys, [id]: key } }
  })
}

/** Makes a key of the file the active one. Returns false when it was active already. */
export function activateInKeyringFile(path: string, id: string): boolean {
  return change(path, (file) => {
    if (file === undefined || !Object.hasOwn(file.keys, id))
      throw new KeyringError([`key ${id} is not in the keyring; add it first`])
    return file.active === id ? undefined : { ...file, active: id }
  })
}

/** Removes a key from the file. Returns false when the file has no such key. */
export function removeFromKeyringFile(path: string, id: string): boolean {
  return change(path, (file) => {
    if (file === undefined || !Object.hasOwn(file.keys, id)) return undefined
    if (file.active === id) throw new KeyringError([`key ${id} is the active one; activate another first`])
    return { ...file, keys: Object.fromEntries(Object.entries(file.keys).filter(([other]) => other !== id)) }
  })
}

/**
 * Replaces the file atomically: at every moment it is the old one or the new one. A lock file prevents two commands
 * from overwriting each other's change.
 */
function change(path: string, decide: (file: KeyringFile | undefined) => KeyringFile | undefined): boolean {
  const lock = `${path}.lock`
  takeLock(lock)
  try {
    const next = decide(existsSync(path) ? read(path) : undefined)
    if (next === undefined) return false
    const text = `${JSON.stringify(next, undefined, 2)}\n`
    parseKeyringFile(text)
    replace(path, text)
    return true
  } finally {
    rmSync(lock, { force: true })
  }
}

function takeLock(lock: string): void {
  try {
    closeSync(openSync(lock, 'wx', 0o600))
  } catch (error) {
    const code = errorCode(error)
    if (code === 'EEXIST')
      throw new KeyringError([`another command is changing the keyring; if none is, remove ${lock}`], { cause: error })
    throw new KeyringError([`the keyring file cannot be changed (${code ?? 'unknown error'})`], { cause: error })
  }
}

function read(path: string): KeyringFile {
  const text = readFileSync(path, 'utf8')
  const { activeId } = parseKeyringFile(text)
  const { keys } = JSON.parse(text) as KeyringFile
  return { active: activeId, keys }
}

function replace(path: string, text: string): void {
  const temporary = `${path}.new`
  rmSync(temporary, { force: true })
  const file = openSync(temporary, 'wx', 0o600)
  try {
    writeSync(file, text)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  if (existsSync(path)) {
    // The service may run as another user than this command, so the file keeps its owner.
    const { uid, gid } = statSync(path)
    const own = statSync(temporary)
    if (uid !== own.uid || gid !== own.gid) chownSync(temporary, uid, gid)
  }
  renameSync(temporary, path)
  syncFolder(dirname(path))
}

/** A rename survives a power failure only once its folder is written, and the new key may wrap data keys right away. */
function syncFolder(path: string): void {
  const folder = openSync(path, 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}
