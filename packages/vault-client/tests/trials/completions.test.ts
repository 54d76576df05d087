import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { vault } from '../commands/run-vault.ts'
import { newFolder } from '../new-folder.ts'

const folder = newFolder()
writeFileSync(join(folder, 'secrets.env'), '')
const options = { encoding: 'utf8', cwd: folder, env: { ...process.env, NODE_OPTIONS: '', HOME: folder } } as const

/** A partial line, and words that a shell must offer. */
const LINES: readonly (readonly [line: string, words: readonly string[]])[] = [
  ['vault ex', ['export']],
  ['vault pu', ['put', 'public-key']],
  ['vault help adm', ['admin']],
  ['vault export --fo', ['--format']],
  ['vault export --format k', ['k8s']],
  ['vault admin projects add --access w', ['write']],
  ['vault admin keys rotate shop --all', ['--all-envs']],
  ['vault admin keys re', ['revoke']],
  ['vault --json admin adm', ['administrators']],
  ['vault --profile admin li', ['list']],
  ['vault completions z', ['zsh']],
  ['vault import sec', ['secrets.env']],
  ['vault export --output sec', ['secrets.env']],
  ['vault run --env staging -- printe', ['printenv']],
  ['vault run -- cat sec', ['secrets.env']],
]

async function scriptOf(shell: string): Promise<string> {
  const file = join(folder, shell)
  writeFileSync(file, (await vault(['completions', shell])).out)
  return file
}

test.each(LINES)('bash completes %j', async (line, expected) => {
  const words = line.split(' ')
  const script = `. "$1"; COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')})
    COMP_CWORD=${String(words.length - 1)}; _vault; printf '%s\n' "\${COMPREPLY[@]}"`
  const completed = execFileSync('bash', ['-c', script, 'bash', await scriptOf('bash')], options).split('\n')
  for (const word of expected) expect(completed).toContain(word)
})

test.each(LINES)('fish completes %j', async (line, expected) => {
  const script = `source "${await scriptOf('fish')}"; complete -C '${line}'`
  const completed = execFileSync('fish', ['--no-config', '-c', script], options)
    .split('\n')
    .map((each) => each.split('\t')[0])
  for (const word of expected) expect(completed).toContain(word)
})

// zsh completes in its line editor alone, which needs a terminal.
const DRIVER = `
import os, pty, select, sys
file, line = sys.argv[1:]
pid, fd = pty.fork()
if pid == 0: os.execvp('zsh', ['zsh', '-f', '-i'])
seen = b''
def until(word):
    global seen
    while word not in seen:
        if not select.select([fd], [], [], 30)[0]: break
        seen += os.read(fd, 65536)
os.write(fd, f'PS1=; source {file}; bindkey "^X" list-choices; echo re""ady\\n'.encode())
until(b'ready\\r\\n')
seen = b''
# The text after the word marks the end of the answer.
os.write(fd, line.encode() + b'\\t\\t')
while select.select([fd], [], [], 1)[0]: seen += os.read(fd, 65536)
os.write(fd, b'END')
until(b'END')
print(seen.decode(errors='replace'))
os.kill(pid, 9)
`
test.each(LINES)('zsh completes %j', async (line, expected) => {
  const args = ['-c', DRIVER, await scriptOf('zsh'), line]
  const seen = execFileSync('python3', args, options)
  for (const word of expected) expect(seen).toContain(word)
})

test('all commands and flags of the help are completed', async () => {
  const script = (await vault(['completions', 'bash'])).out
  const words = async (path: readonly string[]): Promise<void> => {
    const help = (await vault([...path, '--help'])).out
    const line = script.split('\n').find((each) => each.includes(`'${path.join(' ')}') words=`)) ?? ''
    for (const [, flag = ''] of help.matchAll(/^ {2}(?:-\w, )?(--[a-z-]+)/gm))
      expect([path, line.split(/[' ]/)]).toEqual([path, expect.arrayContaining([flag])])
    const [, commands = ''] = /\nCommands:\n(.*?)(\n\n|$)/s.exec(help) ?? []
    for (const [, command = ''] of commands.matchAll(/^ {2}([a-z-]+)/gm)) {
      expect([path, line.split(/[' ]/)]).toEqual([path, expect.arrayContaining([command])])
      if (command !== 'help') await words([...path, command])
    }
  }
  await words([])
})
