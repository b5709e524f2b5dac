import type { AuditKind, AuditOutcome } from '@behalf/contracts';
import type { Principal } from '../principal/principal.ts';

/** The party that caused an event. */
export interface AuditActor {
  readonly kind: 'user' | 'service' | 'anonymous' | 'operator' | 'gateway';
  /** The id of the user or service; empty for an anonymous caller and for the gateway itself. */
  readonly id: string;
  readonly by?: 'session' | 'bearer' | 'api_key' | undefined;
}

/** The kind of credential that a call presented to the server: none, the operator's, or one of the user. */
export type AuditAuthority = 'none' | 'static' | 'user_values' | 'user_token' | 'exchanged';

/** One audit event. It holds names only: the type has no field for an argument value, a token or a secret. */
export interface AuditEvent {
  readonly kind: AuditKind;
  /** For example `tool.call`, `server.create`, `role.change` or `session.start`. */
  readonly action: string;
  readonly tenant: string;
  readonly actor: AuditActor;
  /** The entry point of the request; `gateway` for work that no request caused. */
  readonly door: 'rest' | 'mcp' | 'chat' | 'admin' | 'browser' | 'script' | 'gateway';
  readonly outcome: AuditOutcome;
  /** The error code, if the outcome has one. */
  readonly code?: string | undefined;
  readonly server?: string | undefined;
  /** Identifies the server after its name was given to another server. */
  readonly serverId?: string | undefined;
  readonly tool?: string | undefined;
  /** The names of the sent arguments. */
  readonly arguments?: readonly string[] | undefined;
  readonly authority?: AuditAuthority | undefined;
  /** The scopes of an exchanged token. */
  readonly scopes?: readonly string[] | undefined;
  /** The error code of the identity provider, for example `invalid_grant` or `AADSTS50013`. */
  readonly providerCode?: string | undefined;
  /** Behalf's advice on how to fix that error. */
  readonly hint?: string | undefined;
  /** The object of the action besides the server: a user's id, a role's name, an API key's id. */
  readonly subject?: string | undefined;
  /** The names of the changed fields, permission bits or variables. */
  readonly changed?: readonly string[] | undefined;
  readonly durationMs?: number | undefined;
  /** How many events this one summarizes. */
  readonly count?: number | undefined;
  readonly request?: string | undefined;
}

export interface Audit {
  /**
   * Resolves when the store has the event. Rejects with AUDIT_UNAVAILABLE after at most five seconds; the caller must then
   * not acknowledge the action. The log may still write the event later, because the action may have taken effect.
   */
  record(event: AuditEvent): Promise<void>;
  /**
   * Queues the event and writes it within a second. If the queue is full, the log drops the event, counts it and writes the
   * count. An event with a reservation is never dropped.
   */
  note(event: AuditEvent, isReserved?: boolean): void;
  /** Reserves a queue slot for a later `note`. If it returns false, refuse an action that must not go unaudited. */
  reserve(): boolean;
}

export function actorOf({ kind, userId, authentication: by }: Principal): AuditActor {
  return { kind, id: userId, by: by.via };
}
