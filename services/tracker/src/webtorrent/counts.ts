/** The counts behind the metrics of the WebSockets of one process. */
export class SocketCounts {
  /** Connections that are open. */
  open = 0
  readonly messages = { announce: 0, answer: 0, scrape: 0, malformed: 0 }
  readonly relayed = { offer: { socket: 0, process: 0 }, answer: { socket: 0, process: 0 } }
  /**
   * Offers and answers that were not relayed. `no_offer`: the peer did not receive this offer in the last two minutes,
   * or has answered it. `peer_gone`: the peer that made the offer has left. `slow_reader`: the receiver's queue is
   * full. `unreachable`: the other process did not receive it.
   */
  readonly dropped = { no_offer: 0, peer_gone: 0, slow_reader: 0, unreachable: 0 }
  readonly refused = { origin: 0, path: 0, header_fields: 0, address_limit: 0, stopping: 0 }
}
