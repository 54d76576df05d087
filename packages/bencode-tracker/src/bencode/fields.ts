import type { BencodeDict, BencodeValue } from './decode.ts'

// What a value holds when it is of the kind asked for, `undefined` when it is absent or of another kind.

export function integerOf(value: BencodeValue | undefined): number | undefined {
  return value?.kind === 'integer' ? value.value : undefined
}

export function bytesOf(value: BencodeValue | undefined): Buffer | undefined {
  return value?.kind === 'bytes' ? value.value : undefined
}

export function listOf(value: BencodeValue | undefined): readonly BencodeValue[] | undefined {
  return value?.kind === 'list' ? value.items : undefined
}

export function dictOf(value: BencodeValue | undefined): BencodeDict | undefined {
  return value?.kind === 'dict' ? value : undefined
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The text of a byte string; `undefined` when it is not valid UTF-8 either. */
export function textOf(value: BencodeValue | undefined): string | undefined {
  const bytes = bytesOf(value)
  return bytes === undefined ? undefined : utf8Text(bytes)
}

/** `undefined` when the bytes are not valid UTF-8: no replacement characters, so nothing is named by a guess. */
export function utf8Text(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes)
  } catch {
    return undefined
  }
}
