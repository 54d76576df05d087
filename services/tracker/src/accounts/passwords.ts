/** Hashes and checks passwords. */
export type Passwords = {
  /** @returns a PHC string */
  hash(password: string): Promise<string>
  /**
   * @param hash undefined for an unknown user: a decoy is verified, which takes the same time and always fails
   * @throws ApiError UNAVAILABLE if the queue is full
   */
  matches(hash: string | undefined, password: string): Promise<boolean>
}
