/**
 * Answers questions together that are asked at the same time.
 *
 * As long as fewer than `lanes` runs are under way, a question is asked at once, alone. Those that come while all lanes
 * are taken wait for the first one to be free, and are then asked in one run, at most `most` of them. Nothing waits for
 * company: the busier it is, the more a run answers.
 *
 * @param run answers all questions, in their order. When it fails, it fails for them and for those waiting, who would
 *   otherwise wait as long again for the same end
 */
export function gather<Question, Answer>(
  run: (questions: readonly Question[]) => Promise<readonly Answer[]>,
  { lanes, most }: { lanes: number; most: number },
): (question: Question) => Promise<Answer> {
  type Asked = { question: Question; resolve: (answer: Answer) => void; reject: (error: unknown) => void }
  const waiting: Asked[] = []
  let underWay = 0

  async function serve(): Promise<void> {
    underWay++
    // A turn of the event loop often brings several.
    await Promise.resolve()
    while (waiting.length > 0) {
      const asked = waiting.splice(0, most)
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

  return (question) =>
    new Promise((resolve, reject) => {
      waiting.push({ question, resolve, reject })
      if (underWay < lanes) void serve()
    })
}
