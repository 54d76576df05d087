import type { Secrets } from '../client/secrets.ts'
import { noSecretText } from './settings.ts'
import { NotFoundError, printable } from './terminal.ts'

export type SelectionOptions = {
  readonly only?: readonly string[]
  readonly except?: readonly string[]
  /** Names that are set although they can make programs run other code. */
  readonly allow?: readonly string[]
}

/** @throws CommandError if a key of `only` does not exist */
export function selectSecrets(secrets: Readonly<Secrets>, { only, except }: SelectionOptions, env: string): Secrets {
  const missing = only?.find((key) => !(key in secrets))
  if (missing !== undefined) throw new NotFoundError(noSecretText(missing, env))
  const keys = (only ?? Object.keys(secrets)).filter((key) => except?.includes(key) !== true)
  return Object.assign(Object.create(null) as Secrets, Object.fromEntries(keys.map((key) => [key, secrets[key]])))
}

/**
 * Variables that make programs load or start other code: the loader, shells, interpreters, and programs that others
 * start. The sources are sudo's env_delete, the variables that glibc ignores in setuid programs, and the manual of each
 * program. Names are compared in upper case, as npm, Windows and, for `path`, zsh do.
 */
const NAMES: ReadonlySet<string> = new Set(
  `
  PATH HOME SHELL PATHEXT COMSPEC SYSTEMROOT WINDIR PSMODULEPATH
  LIBPATH SHLIB_PATH GCONV_PATH GETCONF_DIR GLIBC_TUNABLES LOCPATH NLSPATH HOSTALIASES RESOLV_HOST_CONF
  ENV BASH_ENV BASHOPTS SHELLOPTS BASH_LOADABLES_PATH IFS CDPATH GLOBIGNORE PROMPT_COMMAND PS0 PS1 PS2 PS4 INPUTRC
  ZDOTDIR FPATH NULLCMD READNULLCMD TMPPREFIX FISH_FUNCTION_PATH XDG_CONFIG_HOME XDG_CONFIG_DIRS XDG_DATA_DIRS
  NODE_OPTIONS NODE_PATH NODE_REPL_EXTERNAL_MODULE YARN_RC_FILENAME YARN_YARN_PATH BUN_OPTIONS BUN_INSPECT_PRELOAD
  PYTHONPATH PYTHONHOME PYTHONSTARTUP PYTHONINSPECT PYTHONUSERBASE PYTHONBREAKPOINT PYTHONWARNINGS PYTHONEXECUTABLE
  PYTHONPLATLIBDIR PYTHONPYCACHEPREFIX BROWSER
  PERL5OPT PERL5LIB PERLLIB PERL5DB PERL5SHELL PERLIO_DEBUG RUBYOPT RUBYLIB RUBYSHELL BUNDLE_GEMFILE GEM_HOME GEM_PATH
  PHPRC PHP_INI_SCAN_DIR LUA_INIT LUA_PATH LUA_CPATH R_PROFILE R_PROFILE_USER R_ENVIRON R_ENVIRON_USER TCLLIBPATH EMACSLOADPATH
  ERL_AFLAGS ERL_FLAGS ERL_ZFLAGS ERL_LIBS ELIXIR_ERL_OPTIONS JULIA_LOAD_PATH JULIA_DEPOT_PATH
  JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS JAVA_OPTS JAVA_HOME CLASSPATH IBM_JAVA_OPTIONS OPENJ9_JAVA_OPTIONS
  MAVEN_OPTS MAVEN_ARGS GRADLE_OPTS ANT_OPTS SBT_OPTS CATALINA_OPTS
  DOTNET_STARTUP_HOOKS DOTNET_ADDITIONAL_DEPS DOTNET_SHARED_STORE DOTNET_ROOT
  GIT_SSH GIT_SSH_COMMAND GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_PAGER GIT_ASKPASS GIT_EXTERNAL_DIFF GIT_PROXY_COMMAND
  GIT_EXEC_PATH GIT_TEMPLATE_DIR GIT_DIR GIT_COMMON_DIR GIT_WORK_TREE
  EDITOR VISUAL PAGER MANPAGER MANOPT LESS LESSOPEN LESSCLOSE LESSEDIT LESSKEYIN SSH_ASKPASS SUDO_ASKPASS SUDO_EDITOR
  SYSTEMD_PAGER SYSTEMD_EDITOR BAT_PAGER DELTA_PAGER GH_PAGER GH_EDITOR GH_BROWSER KUBE_EDITOR HGEDITOR HGMERGE HGRCPATH
  SVN_EDITOR SVN_SSH CVS_RSH RSYNC_RSH RSYNC_CONNECT_PROG FCEDIT VIMINIT EXINIT GVIMINIT VIMRUNTIME MYVIMRC
  MAKEFLAGS GNUMAKEFLAGS MFLAGS MAKEFILES CC CXX RUSTC RUSTC_WRAPPER RUSTC_WORKSPACE_WRAPPER RUSTFLAGS RUSTDOCFLAGS
  GOFLAGS GOROOT GOTOOLDIR GOENV OPENSSL_CONF OPENSSL_ENGINES OPENSSL_MODULES SSL_CONF
  GTK_MODULES GTK_PATH GDK_PIXBUF_MODULE_FILE GIO_EXTRA_MODULES GIO_MODULE_DIR QT_PLUGIN_PATH
  TERMINFO TERMINFO_DIRS TERMCAP TERMPATH ANSIBLE_CONFIG ANSIBLE_LIBRARY
  `
    .trim()
    .split(/\s+/),
)

const BEGINNINGS = [
  'LD_',
  'DYLD_',
  '_RLD',
  'LDR_',
  'BASH_FUNC_',
  'NPM_CONFIG_',
  'PNPM_CONFIG_',
  'GIT_CONFIG',
  'LUA_INIT_',
  'LUA_PATH_',
  'LUA_CPATH_',
  'CORECLR_',
  'COR_PROFILER',
  'COR_ENABLE_PROFILING',
]

/** Whether a variable with this name can make programs run other code. */
function runsCode(name: string): boolean {
  const upper = name.toUpperCase()
  return NAMES.has(upper) || BEGINNINGS.some((beginning) => upper.startsWith(beginning))
}

/** Maximum number of names in a message. */
const MAX_NAMED = 10

/** Explains why these secrets cannot be set as variables. Returns undefined if they can. */
export function codeProblem(secrets: Readonly<Secrets>, { allow = [] }: SelectionOptions): string | undefined {
  const names = Object.keys(secrets).filter((name) => runsCode(name) && !allow.includes(name))
  if (names.length === 0) return undefined
  const named = names.slice(0, MAX_NAMED).map(printable)
  const more = names.length > MAX_NAMED ? ` and ${String(names.length - MAX_NAMED)} more` : ''
  const flags = named.map((name) => `--allow ${name}`).join(' ')
  return `${named.join(', ')}${more} can make programs run other code; to set ${names.length === 1 ? 'it' : 'them'} anyway, use ${flags}`
}
