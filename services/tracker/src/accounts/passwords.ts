/** Hashes and checks passwords. */
export type Passwords = {
  /** @returns a PHC string */
  hash(password: string): Promise<string>
  /**
   * @param hash undefined when there is no such user: a decoy is checked then, which takes as long and always fails
   * @throws ApiError UNAVAILABLE when too many are waiting already
   */
  matches(hash: string | undefined, password: string): Promise<boolean>
}
