import type { Command, Option } from 'commander'

export const SHELLS = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof SHELLS)[number]

/** A command, the words that may follow it, and whether a file or a program may. */
type Node = { readonly path: string; readonly words: readonly Word[]; readonly then: 'file' | 'program' | undefined }
type Word = { readonly text: string; readonly description: string; readonly value?: Value }
/** The value of an option: one of several words, a file, or text without completions. */
type Value = readonly string[] | 'file' | 'any'

/** Generates a script that completes commands, options and their values. */
export function completionScript(program: Command, shell: Shell): string {
  const nodes = nodesOf(program, '')
  switch (shell) {
    case 'bash':
      return bash(nodes)
    case 'zsh':
      return `#compdef vault
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
autoload -U +X bashcompinit && bashcompinit
${bash(nodes)}`
    case 'fish':
      return fish(nodes)
  }
}

function nodesOf(command: Command, path: string): readonly Node[] {
  const commands = command.commands.flatMap((each) =>
    [each.name(), ...each.aliases()].map((text) => ({ text, description: each.description() })),
  )
  const choices = command.registeredArguments.flatMap(({ argChoices = [] }) =>
    argChoices.map((text) => ({ text, description: '' })),
  )
  const help = { text: '--help', description: 'Show help' }
  const helpCommand = { text: 'help', description: 'Show help for a command' }
  const [argument] = command.registeredArguments
  const own: Node = {
    path,
    words: [
      ...commands,
      ...(commands.length > 0 ? [helpCommand] : []),
      ...choices,
      ...command.options.map(wordOf),
      help,
    ],
    then: argument?.name() === 'file' ? 'file' : argument?.name() === 'command' ? 'program' : undefined,
  }
  return [
    own,
    ...(commands.length > 0 ? [{ path: `${path} help`.trim(), words: commands, then: undefined }] : []),
    ...command.commands.flatMap((each) =>
      [each.name(), ...each.aliases()].flatMap((name) => nodesOf(each, `${path} ${name}`.trim())),
    ),
  ]
}

function wordOf({ long, description, flags, argChoices }: Option): Word {
  const text = long ?? ''
  if (argChoices !== undefined) return { text, description, value: argChoices }
  if (/<(file|path)>/.test(flags)) return { text, description, value: 'file' }
  return flags.includes('<') ? { text, description, value: 'any' } : { text, description }
}

/** The options with a value, of all commands. An option takes the same values in every command. */
function valuesOf(nodes: readonly Node[]): ReadonlyMap<string, Value> {
  return new Map(
    nodes.flatMap(({ words }) =>
      words.flatMap(({ text, value }): [string, Value][] => (value === undefined ? [] : [[text, value]])),
    ),
  )
}

/**
 * Finds the longest path of commands in the line, and completes the words that may follow it. After `--`, and after
 * `run`, it completes a program and files. The variable is named `at` because zsh ties `path` to PATH.
 */
function bash(nodes: readonly Node[]): string {
  const values = valuesOf(nodes)
  const words = nodes.map(({ path, words: each }) => `    '${path}') words='${each.map(textOf).join(' ')}' ;;`)
  const choices = [...values].flatMap(([option, value]) =>
    Array.isArray(value) ? [`    ${option}) words='${value.join(' ')}' ;;`] : [],
  )
  const optionsOf = (kind: Value): string =>
    [...values].flatMap(([option, value]) => (value === kind ? [option] : [])).join('|')
  const paths = (then: Node['then']): string =>
    nodes.flatMap((node) => (node.then === then ? [`'${node.path}'`] : [])).join('|')
  return `_vault() {
  local i word at='' candidate words='' option='' rest=0 current=\${COMP_WORDS[COMP_CWORD]}
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    if [ "$rest" -gt 0 ] || [ "$word" = -- ]; then rest=$((rest + 1)); continue; fi
    if [ "$word" = = ]; then continue; fi
    if [ -n "$option" ]; then option=''; continue; fi
    case "$word" in
      ${[...values.keys()].join('|')}) option=$word; continue ;;
      -*) continue ;;
    esac
    candidate="\${at:+$at }$word"
    case "$candidate" in
      ${nodes.map(({ path }) => `'${path}'`).join('|')}) at=$candidate ;;
      *) case "$at" in ${paths('program')}) rest=2 ;; esac ;;
    esac
  done
  if [ "$current" = = ]; then current=''; fi
  if [ "$rest" -gt 1 ]; then COMPREPLY=($(compgen -f -- "$current")); return; fi
  if [ "$rest" -eq 1 ]; then COMPREPLY=($(compgen -c -- "$current")); return; fi
  case "$option" in
    '') ;;
${choices.join('\n')}
    ${optionsOf('file')}) COMPREPLY=($(compgen -f -- "$current")); return ;;
    *) COMPREPLY=(); return ;;
  esac
  if [ -z "$option" ]; then
    case "$at" in
${words.join('\n')}
    esac
    case "$current" in
      -*) ;;
      *) case "$at" in
        ${paths('file')}) COMPREPLY=($(compgen -f -- "$current")); return ;;
        ${paths('program')}) COMPREPLY=($(compgen -c -- "$current")); return ;;
      esac ;;
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -F _vault vault
`
}

const textOf = ({ text }: Word): string => text

function fish(nodes: readonly Node[]): string {
  const paths = nodes.map(({ path }) => path).filter((path) => path !== '')
  const lines = nodes.flatMap(({ path, words, then }) => [
    ...words.map(({ text, description, value }) => {
      const what = text.startsWith('--') ? `-l ${text.slice(2)}${fishValue(value)}` : `-a ${text}`
      return `complete -c vault -n '__vault_at "${path}"' ${what} -d '${description.replaceAll("'", '')}'`
    }),
    ...(then === 'file' ? [`complete -c vault -n '__vault_at "${path}"' -F`] : []),
    ...(then === 'program' ? [`complete -c vault -n '__vault_at "${path}"' -F -a '(__fish_complete_command)'`] : []),
  ])
  return `function __vault_at
  set -l path
  set -l skip
  for word in (commandline -opc)[2..-1]
    if test -n "$skip"
      set skip
      continue
    end
    if contains -- "$word" ${[...valuesOf(nodes).keys()].join(' ')}
      set skip yes
      continue
    end
    set -l candidate (string trim -- "$path $word")
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

function fishValue(value: Value | undefined): string {
  if (value === undefined) return ''
  if (value === 'file') return ' -r -F'
  return value === 'any' ? ' -x' : ` -x -a '${value.join(' ')}'`
}
