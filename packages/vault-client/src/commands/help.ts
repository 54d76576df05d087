/** Follows the commands in the help of `vault`. */
export const HELP = `
Exit codes:
  0    The command succeeded
  1    The request failed, or a value or file cannot be used
  2    Incorrect usage
  126  run: the command cannot be executed
  127  run: the command was not found
  130  A prompt was cancelled
  141  The reader of the output closed it
  Otherwise run exits with the status of its command, or with 128 + n if signal n ended it.
  diff --exit-code exits with 1 if the environments differ.

Environment variables:
  VAULT_URL                 URL of the vault
  VAULT_PROJECT             Name of the project
  VAULT_PRIVATE_KEY         Private key of the project: a JWK, 64 hex digits or a PKCS#8 PEM
  VAULT_PRIVATE_KEY_FILE    File that contains the private key
  VAULT_ID_TOKEN            ID token for --oidc, as declared in id_tokens of GitLab
  VAULT_ID_TOKEN_FILE       File that contains it
  VAULT_OIDC_AUDIENCE       Audience of a requested ID token; the URL of the vault by default
  VAULT_TRUST_RULE          Name of the trust rule, if several accept the ID token
  VAULT_ENV                 Environment; production by default
  VAULT_PROFILE             Profile saved by vault login
  VAULT_ADMIN_TOKEN         Token for vault admin; asked for on a terminal if unset
  VAULT_MAX_RESPONSE_BYTES  Longest accepted response; 16777216 by default
  HTTPS_PROXY, HTTP_PROXY, NO_PROXY
                            Proxy for the vault, and hosts that are reached without it
  NO_COLOR                  Disable colours
  Flags come first, then the profile that --profile names, then these variables, then the default profile.

Examples:
  $ vault login
  $ printf %s 'correct horse' | vault set PASSPHRASE --env staging
  $ vault run --env staging -- node server.js
  $ vault import .env --env staging
`

export const RUN_HELP = `
Secrets replace variables of the same name; --preserve-env keeps the value of the caller.
The command is looked up in the PATH of the caller. It never receives the private key, its path, the
ID token of VAULT_ID_TOKEN or the admin token.
Names that make programs run other code, such as NODE_OPTIONS, LD_PRELOAD or PATH, are refused unless allowed.

Exit codes:
  The status of the command, or 128 + n if signal n ended it; 127 if it was not found, 126 if it cannot be executed.
  1 if the secrets cannot be read or used.

Examples:
  $ vault run -- npm start
  $ vault run --env staging --only DATABASE_URL -- ./migrate
  $ vault run --watch --preserve-env LOG_LEVEL -- node server.js
  $ vault run --oidc -- ./deploy
`

export const ADMIN_SECRETS_HELP = `
Examples:
  $ vault admin secrets shop --env production
  $ printf %s 'correct horse' | vault admin secrets set shop PASSPHRASE --owner ada --expires 90d
  $ vault admin secrets generate shop SESSION_KEY --length 64 --charset hex
  $ vault admin secrets compare shop staging production
  $ vault admin secrets copy shop staging production --only SESSION_KEY
  $ vault admin secrets expiring --days 7
`

export const EXCHANGE_HELP = `
An ID token can be exchanged for one key. GitHub and Forgejo issue a new token for each command. GitLab and Kubernetes do
not: exchange it once, and use the key file for all commands.

Examples:
  $ vault exchange --output job.key
  $ export VAULT_PRIVATE_KEY_FILE=job.key
  $ vault run -- ./test
  $ vault run -- ./deploy
`

export const SET_HELP = `
One final line break of standard input is removed; --from-file stores a file byte for byte.

Examples:
  $ vault set PASSPHRASE
  $ printf %s 'correct horse' | vault set PASSPHRASE
  $ vault set TLS_KEY --from-file tls.key --env staging
`

export const EXPORT_HELP = `
Values that a format cannot represent are refused, never changed.

Examples:
  $ vault export --format dotenv --output .env
  $ eval "$(vault export --format shell)"
  $ vault export --format fish | source
  $ vault export --format k8s --name shop-secrets | kubectl apply -f -
`

export const GET_HELP = `
A value is followed by a line break, except with --no-newline or --output. On a terminal, control characters are escaped.

Examples:
  $ vault get DATABASE_URL
  $ vault get TLS_KEY --output tls.key
`

/** The description of the flag that stores a value with references. */
export const REFERENCES =
  'Resolve ${KEY} and ${project.environment.KEY} in the value when it is read; $${ is a literal ${'
