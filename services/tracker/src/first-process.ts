import { within } from '@vault-and-tracker/service-kit/core/with-timeout'

/**
 * Sends a message to the first process, from a worker, and waits for the answer.
 *
 * @param answerOf reads a message of the first process; undefined where it is no answer to this one
 * @returns `otherwise` where it has ended, or does not answer within `ms`
 */
export async function askFirstProcess<Answer>(
  question: string | object,
  answerOf: (message: unknown) => Answer | undefined,
  ms: number,
  otherwise: Answer,
): Promise<Answer> {
  if (!process.connected) return otherwise
  let onMessage = (_message: unknown): void => undefined
  const answered = new Promise<Answer>((resolve) => {
    onMessage = (message) => {
      const answer = answerOf(message)
      if (answer !== undefined) resolve(answer)
    }
  })
  process.on('message', onMessage)
  // Where it cannot be asked, it does not answer either.
  process.send?.(question, undefined, undefined, () => undefined)
  const answer = await within(ms, answered, otherwise)
  process.off('message', onMessage)
  return answer
}
