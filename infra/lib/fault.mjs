/** Something the user can do something about: its message is shown as it is, without a stack. */
export class Fault extends Error {
  constructor(message, options) {
    super(message, options)
    this.name = 'Fault'
  }
}
