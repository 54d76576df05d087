/** How long a measurement takes, and the time before it that does not count. */
export type Duration = { seconds: number; warmUpSeconds: number }

/** A project whose requests are signed. */
export type Signer = { project: string; privateKey: string; publicKeyHex: string }

/** Who fetches, as the vault's store wants it. */
export type Caller = { projectUid: string; project: string; publicKeyHex: string; coversContent: boolean }

/** One job of load over HTTP. */
export type LoadJob = {
  port: number
  path: string
  connections: number
  /** Without signers, requests are sent as they are. */
  signers?: readonly Signer[]
  /** How many signed requests to prepare for a second. */
  perSecond?: number
}

/** The statement of a fetch, sent by as many connections. */
export type SqlJob = { databaseUrl: string; caller: Caller; secrets: number; connections: number }

/** The measuring scripts, `<name>-job.ts`, and what each of them is told. */
export type Jobs = { load: LoadJob & Duration; sql: SqlJob & Duration; verify: Duration }

/** What a job reports; times in milliseconds. */
export type Result = {
  perSecond: number
  p50: number
  p99?: number
  errors: number
  /** How many cores the load itself took. */
  loadCpu?: number
}

/** Carries out the job that the parent process sends, and reports what comes of it. */
export function onJob<Name extends keyof Jobs>(_name: Name, run: (job: Jobs[Name]) => Result | Promise<Result>): void {
  process.once('message', (job: Jobs[Name]) => {
    void Promise.resolve(run(job)).then((result) => send(result, () => process.disconnect()))
  })
}

/** Tells the parent process something. */
export function send(message: object, sent?: () => void): void {
  process.send?.(message, undefined, undefined, sent)
}

/** The values below which a share `q` of a sorted list lies. */
export function quantile(sorted: Float64Array, q: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN
}
