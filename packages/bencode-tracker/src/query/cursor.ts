/**
 * Walks over the parameters of a raw query in place: nothing is decoded and nothing is cut out. After a `next()` that
 * gave true, the name is `query[nameStart, nameEnd)` and the value `query[valueStart, valueEnd)`; a name without `=`
 * has an empty value.
 */
export class QueryCursor {
  nameStart = 0
  nameEnd = 0
  valueStart = 0
  valueEnd = -1
  private readonly query: string
  private equals = -1

  constructor(query: string) {
    this.query = query
  }

  /** Steps to the next parameter; false when there is none left. */
  next(): boolean {
    const { query } = this
    const start = this.valueEnd + 1
    if (start >= query.length) return false
    const ampersand = query.indexOf('&', start)
    const end = ampersand === -1 ? query.length : ampersand
    // Looked for only once passed, so that a query of ampersands alone is not searched to its end for each of them.
    if (this.equals < start) {
      const equals = query.indexOf('=', start)
      this.equals = equals === -1 ? query.length : equals
    }
    this.nameStart = start
    this.nameEnd = Math.min(this.equals, end)
    this.valueStart = Math.min(this.nameEnd + 1, end)
    this.valueEnd = end
    return true
  }

  /**
   * Ends the current value at a `?`, if it has one. Some clients append their parameters to our announce URL with a
   * second `?` (`?passkey=x?info_hash=…`); what follows it is then the next parameter.
   */
  endValueAtQuestionMark(): void {
    const mark = this.query.indexOf('?', this.valueStart)
    if (mark !== -1 && mark < this.valueEnd) {
      this.valueEnd = mark
      // The `=` found so far may stand behind the mark or not: look again.
      this.equals = -1
    }
  }

  /** True when the current name is `name`. */
  isNamed(name: string): boolean {
    return this.nameEnd - this.nameStart === name.length && this.query.startsWith(name, this.nameStart)
  }
}
