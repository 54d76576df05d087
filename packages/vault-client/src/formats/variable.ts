import { CommandError } from '../commands/terminal.ts'

/** The ways secrets are printed. */
export const FORMATS = ['json', 'dotenv', 'docker', 'shell', 'yaml', 'github-actions', 'k8s'] as const
export type Format = (typeof FORMATS)[number]

/** Names that a shell accepts as a variable; others could smuggle in a command. */
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/

/** @throws CommandError when a reader of the format would not take the key for a variable */
export function variable(key: string, format: Format): string {
  if (!VARIABLE.test(key)) throw unfit(key, format, 'is not the name of a variable')
  return key
}

/** @throws CommandError: no environment holds a null byte */
export function withoutNull(key: string, value: string, format: Format): string {
  if (value.includes('\0')) throw unfit(key, format, 'holds a null byte')
  return value
}

export function unfit(key: string, format: Format, why: string): CommandError {
  return new CommandError(`${JSON.stringify(key)} ${why}, which the format ${format} cannot hold; use --format json`)
}
