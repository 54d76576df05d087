/** How questions are gathered into runs. */
export type GatherOptions = {
  /** How many runs may be under way at a time. */
  readonly lanes: number
  /** How many questions a run takes at most. */
  readonly most: number
  /** A run starts no sooner than this after the one before, in milliseconds, ... */
  readonly restMs: number
  /** ... unless those that wait are enough, so many or because nobody else is coming. */
  readonly isEnough: (waiting: number) => boolean
}

/**
 * Answers questions together that are asked at about the same time, where a run costs far more than a question in it:
 * a statement to Postgres, a call to Redis.
 *
 * A question after a quiet moment is asked at once, with those of the same turn of the event loop. Runs keep a distance
 * in time, so the busier it is the more each of them answers; those that are full need not wait.
 *
 * @param run answers all questions, in their order; an answer may be a promise, which settles for its question alone.
 *   When it fails, it fails for them and for those waiting, who would otherwise wait as long again for the same end
 */
export function gather<Question, Answer>(
  run: (questions: readonly Question[]) => Promise<readonly (Answer | Promise<Answer>)[]>,
  { lanes, most, restMs, isEnough }: GatherOptions,
): (question: Question) => Promise<Answer> {
  type Asked = {
    question: Question
    resolve: (answer: Answer | Promise<Answer>) => void
    reject: (error: unknown) => void
  }
  const waiting: Asked[] = []
  let underWay = 0
  let lastStart = Number.NEGATIVE_INFINITY
  let timer: NodeJS.Timeout | undefined
  let endOfTurn: NodeJS.Immediate | undefined

  /** Sees to it that a run starts when one may. */
  function consider(): void {
    if (waiting.length === 0 || underWay >= lanes) return
    if (isEnough(waiting.length)) {
      void serve()
      return
    }
    if (timer !== undefined || endOfTurn !== undefined) return
    const rest = lastStart + restMs - performance.now()
    if (rest > 0) timer = setTimeout(due, rest)
    else endOfTurn = setImmediate(due)
  }

  function due(): void {
    timer = endOfTurn = undefined
    // When all lanes are taken, the end of a run considers it again.
    if (waiting.length > 0 && underWay < lanes) void serve()
  }

  async function serve(): Promise<void> {
    clearTimeout(timer)
    clearImmediate(endOfTurn)
    timer = endOfTurn = undefined
    underWay++
    lastStart = performance.now()
    const asked = waiting.splice(0, most)
    consider()
    try {
      const answers = await run(asked.map(({ question }) => question))
      asked.forEach(({ resolve, reject }, i) => {
        const answer = answers[i]
        if (answer === undefined) reject(new Error('a question was not answered'))
        else resolve(answer)
      })
    } catch (error) {
      for (const { reject } of [...asked, ...waiting.splice(0)]) reject(error)
    }
    underWay--
    consider()
  }

  return (question) =>
    new Promise((resolve, reject) => {
      waiting.push({ question, resolve, reject })
      consider()
    })
}
