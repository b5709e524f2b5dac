import type { AuditKind, AuditOutcome } from '@behalf/contracts';
import type { Principal } from '../principal/principal.ts';

/** By whose word something was done. */
export interface AuditActor {
  readonly kind: 'user' | 'service' | 'anonymous' | 'operator' | 'gateway';
  /** Empty for who is not known. */
  readonly id: string;
  readonly by?: 'session' | 'bearer' | 'api_key' | undefined;
}

/** With which credential the server was asked: nobody's, the operator's, or one of the user. */
export type AuditAuthority = 'none' | 'static' | 'user_values' | 'user_token' | 'exchanged';

/** What happened, by whom, and how it ended. Names only: no event has a place for a value, a token or a secret. */
export interface AuditEvent {
  readonly kind: AuditKind;
  /** Such as `tool.call`, `server.create`, `role.change`, `session.start`. */
  readonly action: string;
  readonly tenant: string;
  readonly actor: AuditActor;
  /** Through which door it came in; `gateway`: through none, it was done on the gateway's own account. */
  readonly door: 'rest' | 'mcp' | 'chat' | 'admin' | 'browser' | 'script' | 'gateway';
  readonly outcome: AuditOutcome;
  /** The error code where there is one. */
  readonly code?: string | undefined;
  /** The server's name, and its id where names can be given anew. */
  readonly server?: string | undefined;
  readonly serverId?: string | undefined;
  readonly tool?: string | undefined;
  /** The names of the arguments that were sent. */
  readonly arguments?: readonly string[] | undefined;
  readonly authority?: AuditAuthority | undefined;
  /** Of an exchanged token. */
  readonly scopes?: readonly string[] | undefined;
  /** The identity provider's own code (`invalid_grant`, `AADSTS50013`), and in our words what to do about it. */
  readonly providerCode?: string | undefined;
  readonly hint?: string | undefined;
  /** What was acted upon besides a server: a user's id, a role's name, a key's id. */
  readonly subject?: string | undefined;
  /** The names of the fields, bits or variables that changed. */
  readonly changed?: readonly string[] | undefined;
  readonly durationMs?: number | undefined;
  /** Where one event stands for several. */
  readonly count?: number | undefined;
  readonly request?: string | undefined;
}

export interface Audit {
  /**
   * Durable when it resolves. Rejects with AUDIT_UNAVAILABLE, after five seconds at the latest; then what it tells of must
   * not be acknowledged. The event may be written all the same, later: what it tells of may have been done.
   */
  record(event: AuditEvent): Promise<void>;
  /**
   * Takes it and writes it within a second. What finds no room is counted, and the count is written; what was reserved
   * for always finds its own.
   */
  note(event: AuditEvent, isReserved?: boolean): void;
  /** Keeps room for one event that is noted later. False: there is none, and what must not go unaudited is refused. */
  reserve(): boolean;
}

export function actorOf({ kind, userId, authentication: by }: Principal): AuditActor {
  return { kind, id: userId, by: by.via };
}
