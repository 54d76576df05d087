import { ANNOUNCER, CHANNEL, type IrcMessage, isNick, parsePlain } from './irc-messages.ts'

/** A client that has signed in. */
export type IrcUser = { readonly userId: string; readonly isValid: () => Promise<boolean> }

/** Why a sign-in did not succeed. All wrong credentials look the same. */
export type SignInProblem = 'refused' | 'limited' | 'unavailable'

/** What a session needs of its connection and of the service. */
export type IrcPeer = {
  /** The name of this server. */
  readonly server: string
  readonly topic: string
  /** Sends lines, each without its end. */
  send(...lines: string[]): void
  /** Sends a last message and closes the connection. */
  close(reason: string): void
  signIn(username: string, token: string): Promise<IrcUser | SignInProblem>
  /** Admits a registered client to the events. @returns false if there are too many */
  join(user: IrcUser): boolean
}

/** Base64 of a response may come in lines of this length (IRCv3 SASL). */
const SASL_CHUNK = 400
const MAX_SASL = 2 * SASL_CHUNK
const MAX_SIGN_INS = 3

/** The protocol of one connection: registration with SASL, then commands that a listener needs. */
export class IrcSession {
  private nick = '*'
  private username: string | undefined
  private isNegotiating = false
  private sasl: string | undefined
  private signIns = 0
  private user: IrcUser | undefined
  private isRegistered = false
  private hears = false
  private readonly peer: IrcPeer

  constructor(peer: IrcPeer) {
    this.peer = peer
  }

  /** Whether announcements are sent to it. */
  get isListening(): boolean {
    return this.hears
  }

  get hasRegistered(): boolean {
    return this.isRegistered
  }

  /** Carries out a message. Call it again only once this has resolved. */
  async receive({ command, parameters }: IrcMessage): Promise<void> {
    const [first = '', second = ''] = parameters
    if (command === 'PING') this.reply(`PONG ${this.peer.server} :${first.slice(0, 100)}`)
    else if (command === 'PONG') return
    else if (command === 'QUIT') this.peer.close('Goodbye')
    else if (command === 'CAP') this.negotiate(first.toUpperCase(), parameters.at(-1) ?? '')
    else if (command === 'AUTHENTICATE') await this.authenticate(first)
    else if (command === 'NICK') this.rename(first)
    else if (this.isRegistered) this.serve(command, first, second)
    else if (command === 'USER') this.username = first.replaceAll(/[^\w.-]/g, '').slice(0, 10) || 'user'
    else if (command !== 'PASS') this.numeric('451', ':You have not registered')
    if (!this.isRegistered) this.register()
  }

  private negotiate(what: string, capabilities: string): void {
    if (what === 'LS') {
      this.isNegotiating = !this.isRegistered
      this.reply(`CAP ${this.nick} LS :${/^30[2-9]/.test(capabilities) ? 'sasl=PLAIN' : 'sasl'}`)
    } else if (what === 'LIST') this.reply(`CAP ${this.nick} LIST :sasl`)
    else if (what === 'REQ') {
      this.isNegotiating = !this.isRegistered
      const isKnown = capabilities
        .trim()
        .split(/ +/)
        .every((name) => name === 'sasl')
      this.reply(`CAP ${this.nick} ${isKnown ? 'ACK' : 'NAK'} :${capabilities.trim()}`)
    } else if (what === 'END') this.isNegotiating = false
    else this.numeric('410', `${what.slice(0, 20)} :Invalid CAP command`)
  }

  private async authenticate(text: string): Promise<void> {
    if (this.user !== undefined) this.numeric('907', ':You have already signed in')
    else if (text === '*') {
      this.sasl = undefined
      this.numeric('906', ':SASL authentication aborted')
    } else if (this.sasl === undefined) {
      if (text.toUpperCase() !== 'PLAIN') this.numeric('908', 'PLAIN :are available SASL mechanisms')
      else {
        this.sasl = ''
        this.peer.send('AUTHENTICATE +')
      }
    } else {
      const response = this.sasl + (text === '+' ? '' : text)
      if (text.length > SASL_CHUNK || response.length > MAX_SASL) {
        this.sasl = undefined
        this.numeric('905', ':SASL message too long')
      } else if (text.length === SASL_CHUNK) this.sasl = response
      else await this.signIn(response)
    }
  }

  private async signIn(response: string): Promise<void> {
    this.sasl = undefined
    this.signIns += 1
    const plain = parsePlain(response)
    const user = plain === undefined ? 'refused' : await this.peer.signIn(plain.username, plain.token)
    if (typeof user !== 'string') {
      this.user = user
      this.numeric('900', `${this.mask()} ${plain?.username ?? '*'} :You are now signed in`)
      this.numeric('903', ':SASL authentication successful')
      return
    }
    this.numeric('904', `:SASL authentication failed: ${SIGN_IN_PROBLEMS[user]}`)
    if (user !== 'refused' || this.signIns >= MAX_SIGN_INS) this.peer.close(SIGN_IN_PROBLEMS[user])
  }

  private rename(nick: string): void {
    if (!isNick(nick)) this.numeric('432', `${/^\S{1,30}$/.test(nick) ? nick : '*'} :Erroneous nickname`)
    else if (nick.toLowerCase() === ANNOUNCER) this.numeric('433', `${nick} :Nickname is already in use`)
    else {
      if (this.isRegistered) this.peer.send(`:${this.mask()} NICK ${nick}`)
      this.nick = nick
    }
  }

  /** Completes the registration once nothing is missing. */
  private register(): void {
    if (this.nick === '*' || this.username === undefined || this.isNegotiating) return
    if (this.user === undefined) {
      this.peer.close('Sign in with SASL PLAIN: your username, and an API token with the scope read')
      return
    }
    if (!this.peer.join(this.user)) {
      this.peer.close('Too many clients are connected. Try again later')
      return
    }
    this.isRegistered = true
    const { server } = this.peer
    this.numeric('001', `:Welcome to ${server}, ${this.nick}`)
    this.numeric('002', `:Your host is ${server}`)
    this.numeric('003', ':This server only announces torrents')
    this.numeric('004', `${server} tracker i mnt`)
    this.numeric(
      '005',
      `CHANTYPES=# CHANLIMIT=#:1 NICKLEN=30 NETWORK=${server} CASEMAPPING=ascii :are supported by this server`,
    )
    this.numeric('422', ':There is no message of the day')
    this.enter()
  }

  private enter(): void {
    if (!this.hears) this.peer.send(`:${this.mask()} JOIN ${CHANNEL}`)
    this.hears = true
    this.numeric('332', `${CHANNEL} :${this.peer.topic}`)
    this.listNames()
  }

  private listNames(): void {
    this.numeric('353', `= ${CHANNEL} :@${ANNOUNCER}${this.hears ? ` ${this.nick}` : ''}`)
    this.numeric('366', `${CHANNEL} :End of NAMES list`)
  }

  private serve(command: string, first: string, second: string): void {
    const isOurs = first.toLowerCase() === CHANNEL
    switch (command) {
      case 'JOIN':
        if (first.toLowerCase().split(',').includes(CHANNEL)) this.enter()
        else this.numeric('403', `${printable(first)} :No such channel`)
        return
      case 'PART':
        if (isOurs && this.hears) this.peer.send(`:${this.mask()} PART ${CHANNEL}`)
        if (isOurs) this.hears = false
        return
      case 'NAMES':
        this.listNames()
        return
      case 'TOPIC':
        if (second === '') this.numeric('332', `${CHANNEL} :${this.peer.topic}`)
        else this.numeric('482', `${CHANNEL} :You cannot change the topic`)
        return
      case 'MODE':
        if (!isOurs) this.numeric('221', '+i')
        else if (second === 'b' || second === '+b') this.numeric('368', `${CHANNEL} :End of channel ban list`)
        else if (second === '') this.numeric('324', `${CHANNEL} +mnt`)
        else this.numeric('482', `${CHANNEL} :You cannot change modes`)
        return
      case 'WHO':
        if (isOurs)
          this.numeric(
            '352',
            `${CHANNEL} ${ANNOUNCER} ${this.peer.server} ${this.peer.server} ${ANNOUNCER} H@ :0 ${ANNOUNCER}`,
          )
        this.numeric('315', `${printable(first)} :End of WHO list`)
        return
      case 'PRIVMSG':
        this.numeric(isOurs ? '404' : '401', `${printable(first)} :This server only announces torrents`)
        return
      case 'NOTICE':
        // Never answered (RFC 1459 section 4.4.2).
        return
      case 'USER':
      case 'PASS':
        this.numeric('462', ':You have already registered')
        return
      default:
        this.numeric('421', `${command.slice(0, 20)} :Unknown command`)
    }
  }

  private mask(): string {
    return `${this.nick}!${this.username ?? 'user'}@${this.peer.server}`
  }

  private numeric(code: string, text: string): void {
    this.reply(`${code} ${this.nick} ${text}`)
  }

  private reply(text: string): void {
    this.peer.send(`:${this.peer.server} ${text}`)
  }
}

const SIGN_IN_PROBLEMS = {
  refused: 'the username or API token is wrong, or the token does not have the scope read',
  limited: 'too many sign-ins, try again in a minute',
  unavailable: 'the service is unavailable, try again later',
} satisfies Record<SignInProblem, string>

/** A part of the input that can be repeated in a reply. */
function printable(text: string): string {
  return text.replaceAll(/[^\x21-\x7e]/g, '?').slice(0, 50) || '*'
}
