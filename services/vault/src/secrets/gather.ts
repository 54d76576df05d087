/**
 * Answers questions together that are asked at the same time.
 *
 * A question that finds nothing under way is asked at once. Those that come while a run is under way wait for its end
 * and are then asked in one run, at most `most` of them: the busier it is, the more a run answers. When that end is not
 * in sight after `patienceMs`, they are asked beside it, in up to `lanes` runs at a time.
 *
 * @param run answers all questions, in their order; an answer may be a promise, which settles for its question alone.
 *   When it fails, it fails for them and for those waiting, who would otherwise wait as long again for the same end
 */
export function gather<Question, Answer>(
  run: (questions: readonly Question[]) => Promise<readonly (Answer | Promise<Answer>)[]>,
  { lanes, most, patienceMs }: { lanes: number; most: number; patienceMs: number },
): (question: Question) => Promise<Answer> {
  type Asked = {
    question: Question
    resolve: (answer: Answer | Promise<Answer>) => void
    reject: (error: unknown) => void
  }
  const waiting: Asked[] = []
  let underWay = 0
  let timer: NodeJS.Timeout | undefined

  async function serve(): Promise<void> {
    underWay++
    // A turn of the event loop often brings several.
    await Promise.resolve()
    while (waiting.length > 0) {
      const asked = waiting.splice(0, most)
      clearTimeout(timer)
      timer = undefined
      if (waiting.length > 0) wait()
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
    }
    underWay--
  }

  function wait(): void {
    timer ??= setTimeout(() => {
      timer = undefined
      if (waiting.length > 0 && underWay < lanes) void serve()
    }, patienceMs)
  }

  return (question) =>
    new Promise((resolve, reject) => {
      waiting.push({ question, resolve, reject })
      if (underWay === 0) void serve()
      else wait()
    })
}
