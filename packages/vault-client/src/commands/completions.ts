import type { Command } from 'commander'

export const SHELLS = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof SHELLS)[number]

/** A command with the words that may follow it. */
type Node = { readonly path: string; readonly words: readonly Word[] }
type Word = { readonly text: string; readonly description: string }

/** A script that completes commands, options and the choices of options, made of the program itself. */
export function completionScript(program: Command, shell: Shell): string {
  const nodes = nodesOf(program, '')
  switch (shell) {
    case 'bash':
      return bash(nodes)
    case 'zsh':
      return `#compdef vault\nautoload -U +X bashcompinit && bashcompinit\n${bash(nodes)}`
    case 'fish':
      return fish(nodes)
  }
}

function nodesOf(command: Command, path: string): readonly Node[] {
  const commands = command.commands.map((each) => ({ text: each.name(), description: each.description() }))
  const options = command.options.map(({ long, description }) => ({ text: long ?? '', description }))
  const choices = command.registeredArguments.flatMap(({ argChoices = [] }) =>
    argChoices.map((text) => ({ text, description: '' })),
  )
  const own = { path, words: [...commands, ...choices, ...options, { text: '--help', description: 'show help' }] }
  return [own, ...command.commands.flatMap((each) => nodesOf(each, `${path} ${each.name()}`.trim()))]
}

/** The longest path of commands at the beginning of the line decides; after `--` the shell's own completion goes on. */
function bash(nodes: readonly Node[]): string {
  const cases = nodes.map(({ path, words }) => `    '${path}') words='${words.map(({ text }) => text).join(' ')}' ;;`)
  const paths = nodes.map(({ path }) => `'${path}'`).join('|')
  return `_vault() {
  local word path='' candidate words='' current=\${COMP_WORDS[COMP_CWORD]}
  local i
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    if [ "$word" = -- ]; then COMPREPLY=($(compgen -o default -- "$current")); return; fi
    candidate="\${path:+$path }$word"
    case "$candidate" in ${paths}) path=$candidate ;; esac
  done
  case "$path" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -F _vault vault
`
}

function fish(nodes: readonly Node[]): string {
  const paths = nodes.map(({ path }) => path).filter((path) => path !== '')
  const lines = nodes.flatMap(({ path, words }) =>
    words.map(({ text, description }) => {
      const what = text.startsWith('--') ? `-l ${text.slice(2)}` : `-a ${text}`
      return `complete -c vault -n '__vault_at "${path}"' ${what} -d '${description.replaceAll("'", '')}'`
    }),
  )
  return `function __vault_at
  set -l path
  for word in (commandline -opc)[2..-1]
    set -l candidate (string trim "$path $word")
    if contains -- "$candidate" ${paths.map((path) => `'${path}'`).join(' ')}
      set path $candidate
    end
  end
  test "$path" = "$argv[1]"
end
complete -c vault -f
${lines.join('\n')}
`
}
