export type TicketKind = 'setup';

/** A one-time permission, known to the store by the hash of its secret. */
export interface TicketRecord {
  hash: string;
  kind: TicketKind;
  createdAt: number;
  expiresAt: number;
}

export interface TicketStore {
  /** Removes what had expired by the time the new one was made: nothing else would. */
  issue(ticket: TicketRecord): Promise<void>;
  /** True while it can still be consumed: to show a form, never to decide. */
  isConsumable(kind: TicketKind, hash: string, now: number): Promise<boolean>;
  /** True for exactly one caller in all processes, before it expires. */
  consume(kind: TicketKind, hash: string, now: number): Promise<boolean>;
  /** Ends every open ticket of a kind. */
  revokeAll(kind: TicketKind): Promise<void>;
}
