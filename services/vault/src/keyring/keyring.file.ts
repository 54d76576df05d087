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

/** A parsed keyring file, with key material. */
type KeyringFile = { active: string; keys: Record<string, string> }

/**
 * Adds a new random key to a keyring file without activating it. If the file does not exist, it is created with mode 0600
 * and this key as the active one.
 *
 * @returns false if the file already has a key with this id
 * @throws KeyringError if the id is malformed or the file cannot be changed
 */
export function addToKeyringFile(path: string, id: string): boolean {
  if (!isKeyId(id)) throw new KeyringError(['a key id must be 1 to 64 letters, digits, dots, dashes and underscores'])
  return change(path, (file) => {
    if (file !== undefined && Object.hasOwn(file.keys, id)) return undefined
    const key = randomBytes(32).toString('base64')
    return { active: file?.active ?? id, keys: { ...file?.keys, [id]: key } }
  })
}

/** Activates a key of the file. Returns false if it was active already. */
export function activateInKeyringFile(path: string, id: string): boolean {
  return change(path, (file) => {
    if (file === undefined || !Object.hasOwn(file.keys, id))
      throw new KeyringError([`key ${id} is not in the keyring; add it first`])
    return file.active === id ? undefined : { ...file, active: id }
  })
}

/** Removes a key from the file. Returns false if the file does not have it. */
export function removeFromKeyringFile(path: string, id: string): boolean {
  return change(path, (file) => {
    if (file === undefined || !Object.hasOwn(file.keys, id)) return undefined
    if (file.active === id) throw new KeyringError([`key ${id} is active; activate another one first`])
    return { ...file, keys: Object.fromEntries(Object.entries(file.keys).filter(([other]) => other !== id)) }
  })
}

/**
 * Replaces the file atomically. A lock file prevents two commands from overwriting each other's change.
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
    // The service may run as a different user than this command.
    const { uid, gid } = statSync(path)
    const own = statSync(temporary)
    if (uid !== own.uid || gid !== own.gid) chownSync(temporary, uid, gid)
  }
  renameSync(temporary, path)
  syncFolder(dirname(path))
}

/** Makes a rename survive a power failure, because the new key may wrap data keys right away. */
function syncFolder(path: string): void {
  const folder = openSync(path, 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}
