import { unfit, variable, withoutNull } from './variable.ts'

/**
 * One line of a file as the dotenv package, Node's `--env-file`, python-dotenv and shells read it.
 *
 * Between single quotes all take nearly every character literally, line breaks too. python-dotenv undoes `\\` and `\'` there, and
 * replaces `${NAME}` everywhere. Between double quotes they differ more, so a value with a single quote is written there only
 * where nothing is to be undone.
 *
 * @throws CommandError naming the key where no spelling means the same to all of them
 */
export function dotenvLine(key: string, value: string): string {
  const name = variable(key, 'dotenv')
  withoutNull(key, value, 'dotenv')
  if (value.includes('\r')) throw unfit(key, 'dotenv', 'has a carriage return')
  if (value.includes('${')) throw unfit(key, 'dotenv', 'has ${, which some readers replace')
  if (!value.includes("'") && !/\\(\\|$)/.test(value)) return `${name}='${value}'\n`
  if (!/[\\"$`]/.test(value)) return `${name}="${value}"\n`
  throw unfit(key, 'dotenv', 'has a quote or a backslash that readers of this format undo differently')
}
